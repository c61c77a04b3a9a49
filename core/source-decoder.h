/* SPDX-License-Identifier: Apache-2.0
 *
 * The links of the chain that a source reads through:
 * descriptor → peek → [gzip | zstd] → [peek] → [UTF-16]; or a journal alone.
 *
 * A decoder owns the one below it; closing the top closes all. Memory is
 * bounded: each link has fixed buffers. One thread at a time.
 */
#ifndef CORE_SOURCE_DECODER_H
#define CORE_SOURCE_DECODER_H

#include "error.h"

#include <sys/types.h>

#define DECODER_INPUT_BYTES (256u * 1024u)
#define DECODER_PEEK_BYTES 4u

struct decoder {
    /* As source_read: at least 1 byte, 0 at the end, or a negative status.
     * `cap` is at least 1. After DT_ERR_CANCELLED it may be called again,
     * after other errors it answers with an error again. */
    ssize_t (*read)(struct decoder *d, void *data, size_t cap, int cancel_fd,
                    struct error *err);
    void (*close)(struct decoder *d); /* frees d and what is below */
};

void decoder_close(struct decoder *d); /* NULL is fine */

/* ---- the bottom: a descriptor ---- */

struct decoder_file_args {
    int fd;           /* owned from a success on */
    const char *path; /* for messages; must outlive the decoder */
    bool can_wait;    /* fifo, pipe, socket, terminal: poll before each read */
    bool is_sized;    /* a regular file with a size: read with pread */
    uint64_t start;   /* first offset, of a sized one */
    uint64_t size;    /* at the time of opening, of a sized one */
};
int decoder_file_new(const struct decoder_file_args *args, struct decoder **out,
                     struct error *err);
/* Bytes read from the descriptor so far. */
uint64_t decoder_file_consumed(const struct decoder *d);
/* Goes on `offset` bytes behind the start of a sized file. */
void decoder_file_seek(struct decoder *d, uint64_t offset);

/* The error of a sized file that ends at `end` although it had `size` bytes;
 * DT_OK if it still has them (files of sysfs have no honest size). */
int decoder_file_check_size(int fd, const char *path, uint64_t end,
                            uint64_t size, struct error *err);

/* ---- another bottom: a journal, from its first entry ---- */

struct journal_args;
/* Errors as journal_open; DT_ERR_NOENT: it has no entry. */
int decoder_journal_new(const struct journal_args *args, struct decoder **out,
                        struct error *err);

/* ---- a look at the first bytes ---- */

/* Takes `below` on success. */
int decoder_peek_new(struct decoder *below, struct decoder **out,
                     struct error *err);
/* Reads on until more than `want` bytes are there (at most
 * DECODER_PEEK_BYTES) or the input ended. DT_OK or an error. */
int decoder_peek_fill(struct decoder *d, size_t want, int cancel_fd,
                      struct error *err);
/* What is there; *is_end: nothing follows. */
size_t decoder_peek_bytes(const struct decoder *d, const uint8_t **bytes,
                          bool *is_end);
void decoder_peek_drop(struct decoder *d, size_t len);
/* Frees the link and returns the one below. */
struct decoder *decoder_peek_remove(struct decoder *d);

/* ---- decoding links; each takes `below` on success ---- */

enum decoder_gzip_engine {
    DECODER_GZIP_FASTEST, /* ISA-L where it was built in */
    DECODER_GZIP_ZLIB
};
/* All members, zero padding between and behind them; other bytes behind the
 * last member, a wrong checksum, a truncated member: DT_ERR_IO. */
int decoder_gzip_new(struct decoder *below, const char *path,
                     enum decoder_gzip_engine engine, struct decoder **out,
                     struct error *err);
/* All frames, skippable ones and zero padding passed over; errors as above,
 * and DT_ERR_LIMIT for a window above 128 MiB. */
int decoder_zstd_new(struct decoder *below, const char *path,
                     struct decoder **out, struct error *err);
/* UTF-16 without its BOM to UTF-8; what is no character becomes U+FFFD. */
int decoder_utf16_new(struct decoder *below, bool is_big_endian,
                      struct decoder **out, struct error *err);

/* ---- input buffer of a decoding link ---- */

struct decoder_input {
    struct decoder *below;
    uint8_t *data; /* DECODER_INPUT_BYTES */
    size_t pos, len;
    uint64_t passed; /* bytes in front of data[0] */
    bool is_end;
};
int decoder_input_init(struct decoder_input *in, struct decoder *below,
                       struct error *err);
void decoder_input_fini(struct decoder_input *in);
/* Makes `want` (at most 16) unread bytes available unless the input ends
 * first; *have tells how many there are. DT_OK or an error. */
int decoder_input_fill(struct decoder_input *in, size_t want, int cancel_fd,
                       size_t *have, struct error *err);
/* Offset of the next unread byte. */
uint64_t decoder_input_offset(const struct decoder_input *in);
/* Behind a finished member or frame: passes over zero bytes and makes `want`
 * bytes available behind them. *have: 0 at the end of the input. */
int decoder_input_skip_zeros(struct decoder_input *in, size_t want,
                             int cancel_fd, size_t *have, struct error *err);

#endif
