/* SPDX-License-Identifier: Apache-2.0
 *
 * The first line of a source that is not blank, for plugins that meet its
 * blocks out of order (struct dt_source.head).
 */
#include "input-head.h"

#include <stdlib.h>

#define USUAL 4096u /* bytes that hold most first lines */

/* Takes the first line that is not blank; false: the bytes do not hold it. */
static bool
keep(struct input *in, const char *data, size_t len, bool is_all)
{
    const char *start = data, *end = data + len, *nl;

    for (const char *p = data; p < end && strchr(" \t\r\n", *p) && *p; p++) {
        start = *p == '\n' ? p + 1 : start;
    }
    in->head_offset = (uint64_t)(start - data);
    data = start;
    len = (size_t)(end - start);
    nl = memchr(data, '\n', len);
    if (!nl && !is_all) {
        return false;
    }
    in->head_len = nl ? (size_t)(nl - data) : len;
    in->head = malloc(in->head_len + 1);
    if (in->head) {
        memcpy(in->head, data, in->head_len);
        in->head[in->head_len] = '\0';
    }
    return true;
}

void
input_keep_head(struct input *in, const char *data, size_t len)
{
    in->has_head = true;
    keep(in, data, len < INPUT_HEAD_MAX ? len : INPUT_HEAD_MAX, false);
}

void
input_read_head(struct input *in)
{
    char *data = malloc(INPUT_HEAD_MAX);
    size_t want = USUAL;

    in->has_head = true;
    while (data && in->source) {
        struct error err = ERROR_INIT;
        ssize_t n = source_pread(in->source, data, want, 0, &err);

        if (n <= 0 || keep(in, data, (size_t)n, (size_t)n < want) ||
            want == INPUT_HEAD_MAX) {
            break;
        }
        want = INPUT_HEAD_MAX;
    }
    free(data);
}
