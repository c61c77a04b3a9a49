/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal of a systemd unit as text, through libsystemd: one line an
 * entry, as journalctl(1) shows them by default; further lines of a message
 * are indented to the first. "journal:UNIT" is what a user names.
 *
 * The kernel decides which journal files may be opened; the rules of the
 * configuration are asked for the whole target, and for the whole name of the
 * unit where ".service" was left out.
 *
 * libsystemd maps journal files, which other programs never shorten; nothing
 * else in the server is mapped.
 *
 * Threads: one at a time.
 */
#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

#include "buf.h"
#include "error.h"

struct journal;
struct permission;

#define JOURNAL_SERIES 33u /* bytes: 32 hexadecimal digits and NUL */

/* An entry, as it is known across sessions. Numbers grow within a series. */
struct journal_mark {
    char series[JOURNAL_SERIES]; /* "": none */
    uint64_t number;
    uint64_t time_us; /* when it was written */
};

/* Whether this build can read journals. */
bool journal_is_built(void);
/* Whether a target is a journal. */
bool journal_is_target(const char *target);

struct journal_args {
    const char *target; /* journal:UNIT */
    const char *dir;    /* of journal files; "": this machine's */
    const struct permission *permission; /* NULL: no rules */
};

/* Opens at the first entry. DT_OK; DT_ERR_INVAL (no name of a unit, or this
 * build has no libsystemd), DT_ERR_ACCES (the text is for the log),
 * DT_ERR_IO, DT_ERR_NOMEM. That there is no entry is no error here. */
int journal_open(const struct journal_args *args, struct journal **out,
                 struct error *err);
void journal_close(struct journal *j);
/* Why nothing can be read, for the user: text for DT_ERR_NOENT. */
int journal_set_empty(const struct journal *j, struct error *err);

/* Appends the next entry as whole lines. DT_OK; DT_STOP: there is none now;
 * DT_ERR_IO, DT_ERR_NOMEM. An entry that is damaged is passed over. */
int journal_next(struct journal *j, struct buf *out, struct error *err);
/* Which entry journal_next gave last, or where seeking went behind. */
struct journal_mark journal_mark(const struct journal *j);

/* Where journal_next goes on: in front of the last `nr` entries (0: behind the
 * last one); at an entry, or behind its place if it is gone; at the first. */
int journal_seek_last(struct journal *j, uint64_t nr, struct error *err);
int journal_seek_mark(struct journal *j, const struct journal_mark *mark,
                      struct error *err);
int journal_seek_first(struct journal *j, struct error *err);

/* Following: readable when there may be more, then journal_process; and in how
 * many milliseconds it is to be called anyway, -1: never. */
int journal_fd(const struct journal *j);
int journal_timeout_ms(const struct journal *j);
int journal_process(struct journal *j, struct error *err);

#endif
