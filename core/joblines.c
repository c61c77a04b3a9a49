/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run of a job says.
 */
#include "joblines.h"

#include <errno.h>
#include <unistd.h>

void
joblines_close(struct joblines *l)
{
    if (l->fd >= 0) {
        close(l->fd);
        l->fd = -1;
    }
}

static void
give(struct joblines *l, joblines_fn *each, void *ctx)
{
    l->line[l->len] = '\0';
    if (l->len > 0) {
        each(ctx, l->line);
    }
    l->len = 0;
}

void
joblines_read(struct joblines *l, joblines_fn *each, void *ctx)
{
    char data[4096];
    ssize_t n = 1;

    while (l->fd >= 0 && n > 0) {
        n = read(l->fd, data, sizeof(data));
        for (ssize_t i = 0; i < n; i++) {
            if (data[i] == '\n') {
                give(l, each, ctx);
            } else if (l->len < sizeof(l->line) - 1) {
                l->line[l->len++] = data[i];
            }
        }
        if (n < 0 && errno == EINTR) {
            n = 1;
        }
    }
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        give(l, each, ctx);
        joblines_close(l);
    }
}

int
joblines_judge(const char *line, const char **text)
{
    static const struct {
        const char *word;
        int rank;
    } levels[] = {{"FATAL", 3}, {"ERROR", 2}, {"WARN", 1}, {"INFO", 0}};
    const char *at = line;

    *text = line;
    if (strncmp(line, "CLIENT|", 7) != 0 && strncmp(line, "SERVER|", 7) != 0) {
        return 1;
    }
    for (int field = 0; field < 2 && at; field++) {
        at = strchr(at, '|');
        at = at ? at + 1 : NULL;
    }
    for (size_t i = 0; at && i < sizeof(levels) / sizeof(*levels); i++) {
        size_t len = strlen(levels[i].word);

        if (strncmp(at, levels[i].word, len) == 0 && at[len] == '|') {
            *text = at + len + 1;
            return levels[i].rank;
        }
    }
    return 1;
}
