/* SPDX-License-Identifier: Apache-2.0
 *
 * Following the journals of units: their part beside the files of follow.h,
 * with the same events.
 *
 * The offset of an event is where to go on after a broken connection: the
 * number of the entry within its series, which stands in for the fingerprint,
 * and the bytes of its text. Another series is another generation.
 *
 * Threads: one at a time.
 */
#ifndef CORE_FOLLOW_JOURNAL_H
#define CORE_FOLLOW_JOURNAL_H

#include "follow.h"

struct follow_journal;
struct pollfd;

/* Takes what args->patterns has of journals; `dir` is Server.JournalDir.
 * *out is NULL when there are none. A journal that cannot be opened is a note.
 * DT_OK or DT_ERR_NOMEM. */
int follow_journal_new(const struct follow_args *args, const char *dir,
                       struct follow_journal **out, struct error *err);
void follow_journal_free(struct follow_journal *f);

/* How many sources there are: numbers of events are below. */
uint32_t follow_journal_count(const struct follow_journal *f);
/* As follow_next; lines are copied into `buffer`. */
int follow_journal_next(struct follow_journal *f, char *buffer, size_t cap,
                        struct follow_event *ev);

/* Descriptors to wait for: at most as many as there are sources; how many
 * milliseconds at most, -1: for ever. */
size_t follow_journal_poll(const struct follow_journal *f, struct pollfd *p,
                           int *timeout_ms);
/* The wait is over: looks what has come. */
void follow_journal_process(struct follow_journal *f);

#endif
