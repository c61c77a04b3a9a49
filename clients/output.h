/* SPDX-License-Identifier: Apache-2.0
 *
 * The client's standard output: buffered writes that can be held back and
 * given up at any moment, so that a reader who stopped (a pager, Ctrl-S) never
 * keeps the client from ending.
 *
 * Threads: one writer at a time; output_stop, output_hold and output_release
 * from any thread.
 */
#ifndef CLIENTS_OUTPUT_H
#define CLIENTS_OUTPUT_H

#include "error.h"

#define OUTPUT_BUFFER (256u * 1024u) /* bytes */
#define OUTPUT_SLACK 64u             /* writable behind reserved room */
/* Larger pieces are not copied; two packets of SSH are 65,516 bytes. */
#define OUTPUT_DIRECT (60u * 1024u)

struct cancel;
struct output;
struct statusline;

/* `fd` is not owned. `follow`: data come slowly and must be seen at once, so a
 * pipe keeps its size; else it is made larger. */
int output_new(int fd, bool follow, struct output **out, struct error *err);
/* A line that gives way to data on the same terminal, and is away while output
 * is held back. Not owned, lives longer; NULL: none. Before the first write. */
void output_set_status(struct output *o, struct statusline *status);
void output_free(struct output *o);

/* All of these: DT_OK, DT_ERR_CANCELLED (output_stop, or `cancel`, which may
 * be NULL), DT_ERR_IO (see output_error). */

/* Room for `need` bytes, at most OUTPUT_BUFFER, plus OUTPUT_SLACK;
 * output_commit then says how many were written. */
int output_reserve(struct output *o, size_t need, const struct cancel *cancel,
                   char **at);
void output_commit(struct output *o, size_t len);
int output_write(struct output *o, const void *data, size_t len,
                 const struct cancel *cancel);
int output_flush(struct output *o, const struct cancel *cancel);

/* errno of the write that failed; 0: none did. EPIPE: the reader has left. */
int output_error(const struct output *o);
bool output_is_terminal(const struct output *o);
uint64_t output_bytes(const struct output *o);
/* Columns and lines of the terminal; 0: it is none, or does not say. */
void output_size(const struct output *o, size_t *width, size_t *height);
/* A descriptor to poll (with no events) for POLLERR and POLLHUP: the reader has
 * left; -1 when it cannot leave. */
int output_watch_fd(const struct output *o);

/* Every write from now on, also one that waits, ends with DT_ERR_CANCELLED. */
void output_stop(struct output *o);
/* True once output_stop was called; any thread. */
bool output_is_stopped(const struct output *o);
/* Holds all writes back until released, for a question to the user. */
void output_hold(struct output *o);
void output_release(struct output *o);

#endif
