/* SPDX-License-Identifier: Apache-2.0
 *
 * Packs what an instance emits into frames and sends them when it is the
 * unit's turn.
 */
#include "packer.h"

/* Lines of at least this many bytes go out without being copied. */
#define DIRECT_BYTES (32u * 1024u)
/* Output that waits for its turn; more makes its thread wait as well. */
#define HELD_BYTES (1024u * 1024u)
/* What the buffer keeps of its memory; it grows in powers of two. */
#define KEEP_BYTES (256u * 1024u)

void
packer_init(struct packer *p, struct outq *queue, struct order *order,
            const struct cancel *cancel)
{
    *p = (struct packer){.queue = queue, .order = order, .cancel = cancel};
}

void
packer_fini(struct packer *p)
{
    buf_fini(&p->out);
}

/* Finishes the header of the frame that may still grow. */
static void
close_frame(struct packer *p)
{
    if (p->is_open) {
        p->open.len = p->out.len - p->open_at - WIRE_MAX_FIXED;
        wire_encode((uint8_t *)p->out.data + p->open_at, &p->open);
        p->is_open = false;
    }
}

/* True when this thread may write now. */
static bool
try_turn(struct packer *p)
{
    if (!p->has_turn) {
        p->has_turn = order_try_turn(p->order, p->seq);
    }
    return p->has_turn;
}

int
packer_push(struct packer *p)
{
    int rc = DT_OK;

    close_frame(p);
    if (p->out.len) {
        rc = outq_push_encoded(p->queue, p->out.data, p->out.len, p->cancel);
        p->out.len = 0;
        buf_shrink(&p->out, KEEP_BYTES); /* behind one long line */
    }
    return rc;
}

/* Writes what is held when it is the unit's turn; waits for the turn when too
 * much is held. */
static int
spill(struct packer *p)
{
    if (p->out.len < WIRE_BLOCK) {
        return DT_OK;
    }
    if (!try_turn(p)) {
        int rc;

        if (p->out.len < HELD_BYTES) {
            return DT_OK;
        }
        rc = order_wait_turn(p->order, p->seq);
        if (rc != DT_OK) {
            return rc;
        }
        p->has_turn = true;
    }
    return packer_push(p);
}

static int
append_frame(struct packer *p, const struct wire_frame *f)
{
    close_frame(p);
    if (buf_reserve(&p->out, WIRE_MAX_FIXED + f->len) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    p->out.len += wire_encode((uint8_t *)p->out.data + p->out.len, f);
    if (f->len) {
        memcpy(p->out.data + p->out.len, f->data, f->len);
        p->out.len += f->len;
    }
    return DT_OK;
}

int
packer_frame(struct packer *p, const struct wire_frame *f)
{
    int rc;

    close_frame(p);
    if (f->len >= DIRECT_BYTES && try_turn(p)) {
        rc = packer_push(p);
        return rc == DT_OK ? outq_push(p->queue, f, p->cancel) : rc;
    }
    rc = append_frame(p, f);
    return rc == DT_OK ? spill(p) : rc;
}

/* True when the lines can simply be put behind those of the open frame. */
static bool
may_extend(const struct packer *p, const struct wire_frame *f, size_t state_len)
{
    return p->is_open && p->open.source == f->source && p->open.flags == 0 &&
           p->open.generation == f->generation && p->state_len == state_len &&
           (f->first_line == 0
                ? p->open.first_line == 0
                : p->open.first_line + p->open.nr_lines == f->first_line) &&
           p->out.len - p->open_at + f->len < WIRE_BLOCK;
}

/* The state stands in front of the lines: it is never missing where they have
 * arrived. */
static int
put_state(struct packer *p, const struct wire_frame *lines, const void *state,
          size_t len)
{
    const struct wire_frame f = {.type = WIRE_S_STATE,
                                 .query = lines->query,
                                 .source = lines->source,
                                 .data = state,
                                 .len = len};
    int rc = len ? append_frame(p, &f) : DT_OK;

    p->state_at = p->out.len - len;
    p->state_len = len;
    return rc;
}

int
packer_lines(struct packer *p, const struct wire_frame *f, const void *state,
             size_t state_len)
{
    if (f->len >= DIRECT_BYTES) {
        int rc = put_state(p, f, state, state_len);

        return rc == DT_OK ? packer_frame(p, f) : rc;
    }
    if (!may_extend(p, f, state_len)) {
        int rc;

        close_frame(p);
        rc = put_state(p, f, state, state_len);
        if (rc != DT_OK) {
            return rc;
        }
        if (buf_reserve(&p->out, WIRE_MAX_FIXED + f->len) != DT_OK) {
            return DT_ERR_NOMEM;
        }
        p->open = *f;
        p->open.nr_lines = 0;
        p->open_at = p->out.len;
        p->out.len += WIRE_MAX_FIXED;
        p->is_open = true;
    } else if (buf_reserve(&p->out, f->len) != DT_OK) {
        return DT_ERR_NOMEM;
    } else if (state_len) { /* of the same length as it was */
        memcpy(p->out.data + p->state_at, state, state_len);
    }
    memcpy(p->out.data + p->out.len, f->data, f->len);
    p->out.len += f->len;
    p->open.nr_lines += f->nr_lines;
    p->open.flags = f->flags;
    p->open.offset = f->offset;
    return spill(p);
}

void
packer_begin(struct packer *p, uint64_t seq)
{
    p->seq = seq;
    p->has_turn = false;
}

int
packer_end(struct packer *p)
{
    p->has_turn = false;
    close_frame(p);
    return order_done(p->order, p->seq, &p->out);
}

void
packer_alone(struct packer *p)
{
    p->has_turn = true;
}

int
packer_show(struct packer *p)
{
    int rc = p->has_turn ? packer_push(p) : DT_OK;

    return rc == DT_OK ? outq_flush(p->queue, p->cancel) : rc;
}
