/* SPDX-License-Identifier: Apache-2.0
 *
 * One line on a terminal that comes and goes: it is written with the cursor at
 * its begin, so that whoever writes next finds the place as it was, and so that
 * all of it goes away also after the terminal became narrower and wrapped it.
 *
 * Threads: any. All functions take NULL: no terminal, no line.
 */
#ifndef CLIENTS_STATUSLINE_H
#define CLIENTS_STATUSLINE_H

#include <stdbool.h>
#include <stddef.h>

struct statusline;

/* `fd` is not owned; it is opened again without blocking, so that a terminal
 * that was stopped keeps nobody waiting. NULL when it is no terminal that can
 * do this, or memory is short. */
struct statusline *statusline_new(int fd);
void statusline_free(struct statusline *s);
/* Is the file of `fd` the same terminal? */
bool statusline_is_at(const struct statusline *s, int fd);

/* Columns that may be written: one less than there are, so that the cursor
 * stays in its row. */
size_t statusline_width(const struct statusline *s);
/* Writes the line in place of the last one, unless data stand in the row. */
void statusline_show(struct statusline *s, const char *text, size_t len);
/* Somebody is about to write to the terminal: the line goes, and the next
 * statusline_show is passed over. */
void statusline_clear(struct statusline *s);
/* From now on (until false) it stays away: for a question. */
void statusline_hold(struct statusline *s, bool is_held);

/* For who writes data to the same terminal: removes the line and keeps others
 * from it until statusline_end. False: the terminal takes nothing now, and
 * there is nothing to end. */
bool statusline_begin(struct statusline *s);
/* `last`: the last byte that was written; NULL: none was. */
void statusline_end(struct statusline *s, const char *last);

#endif
