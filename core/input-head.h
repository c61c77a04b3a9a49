/* SPDX-License-Identifier: Apache-2.0
 *
 * The first line of a source that is not blank, for plugins that meet its
 * blocks out of order (struct dt_source.head): kept as long as the query, not
 * known when it is longer than INPUT_HEAD_MAX. Under the lock of the inputs.
 */
#ifndef CORE_INPUT_HEAD_H
#define CORE_INPUT_HEAD_H

#include "unit.h"

#define INPUT_HEAD_MAX (64u * 1024u)

/* From the first chunk of a stream: whole lines. */
void input_keep_head(struct input *in, const char *data, size_t len);
/* From a source that can be read at any offset. */
void input_read_head(struct input *in);

#endif
