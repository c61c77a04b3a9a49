/* SPDX-License-Identifier: Apache-2.0
 *
 * Where another session goes on with a followed source.
 */
#include "following-place.h"

/* How far a file may be read without a line that is given out before the
 * client is told where to go on after a broken connection. */
#define MARK_BYTES (64u * 1024u)

static int
push_mark(const struct lane_shared *sh, const struct place *at,
          const struct lane_place *place)
{
    const struct wire_frame state = {.type = WIRE_S_STATE,
                                     .query = sh->spec->id,
                                     .source = at->input->id,
                                     .data = place->state,
                                     .len = place->state_len};
    const struct wire_frame mark = {.type = WIRE_S_LINES,
                                    .query = sh->spec->id,
                                    .source = at->input->id,
                                    .generation = place->generation,
                                    .offset = place->offset,
                                    .data = ""};
    int rc = DT_OK;

    if (place->state_len) {
        rc = outq_push(sh->env->out, &state, sh->cancel);
    }
    return rc == DT_OK ? outq_push(sh->env->out, &mark, sh->cancel) : rc;
}

/* Whether the place is to be told. That of the next file waits: the one before
 * may still get lines; but not the one before that. Late lines are none. */
static bool
is_far(const struct place *at, const struct lane_place *to)
{
    if (to->generation != at->marked_generation) {
        return to->generation > at->marked_generation + 1 ||
               (to->generation > at->marked_generation &&
                to->offset >= MARK_BYTES);
    }
    /* smaller: the file was truncated */
    return to->offset < at->marked || to->offset - at->marked >= MARK_BYTES;
}

int
place_mark(struct place *at, const struct lane *l, const struct lane_shared *sh)
{
    struct lane_place place = *lane_place(l);

    if (place.has_lines && !place.is_set) {
        at->marked = place.offset;
        at->marked_generation = place.generation;
        return DT_OK;
    }
    if (!place.is_set) {
        if (sh->is_ordered) {
            return DT_OK;
        }
        place.generation = at->generation;
        place.offset = at->offset;
    }
    if (!is_far(at, &place)) {
        return DT_OK;
    }
    at->marked = place.offset;
    at->marked_generation = place.generation;
    return push_mark(sh, at, &place);
}

void
place_find_state(struct place *at, const struct query_spec *spec)
{
    struct input *in = at->input;

    for (size_t i = 0; i < spec->nr_resume; i++) {
        const struct source_desc *d = &spec->resume[i];

        if (d->state && strcmp(d->path, in->target.path) == 0) {
            in->state = d->state;
            in->state_len = d->state_len;
            return;
        }
    }
}
