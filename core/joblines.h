/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run of a job says: lines of a pipe that never blocks, and the one
 * complaint among them that explains a failure.
 */
#ifndef CORE_JOBLINES_H
#define CORE_JOBLINES_H

#include "buf.h"

#define JOBLINES_MAX 1024u /* bytes of a line; the rest is dropped */

/* Caller's memory. All zero but fd is empty. */
struct joblines {
    int fd; /* -1: closed */
    char line[JOBLINES_MAX];
    size_t len;
};

/* Called with each line, without its newline. */
typedef void joblines_fn(void *ctx, const char *line);

/* Reads what is there now; closes at the end, where a last line counts without
 * its newline. */
void joblines_read(struct joblines *l, joblines_fn *each, void *ctx);
void joblines_close(struct joblines *l);

/* How bad a line of a client is, and its text without what every line begins
 * with ("CLIENT|host|ERROR|"). 0: nothing; 1: a warning or other words; 2: an
 * error; 3: what ended the program. */
int joblines_judge(const char *line, const char **text);

#endif
