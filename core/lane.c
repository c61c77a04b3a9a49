/* SPDX-License-Identifier: Apache-2.0
 *
 * One instance of a query's map stage: feeding it, and its end.
 */
#include "lane-host.h"

#include "clock.h"
#include "config.h"
#include "lines.h"

#include <stdlib.h>

int
lane_fail(struct lane_shared *sh, int status, const char *text)
{
    if (status == DT_ERR_CANCELLED) {
        return status;
    }
    pthread_mutex_lock(&sh->lock);
    if (sh->status == DT_OK) {
        sh->status = status;
        snprintf(sh->text, sizeof(sh->text), "%s", text);
    }
    pthread_mutex_unlock(&sh->lock);
    cancel_set(sh->cancel, CANCEL_FAILED);
    order_interrupt(sh->order);
    inputs_interrupt(sh->inputs);
    return status;
}

static void
add_to(_Atomic uint64_t *counter, uint64_t nr)
{
    atomic_fetch_add_explicit(counter, nr, memory_order_relaxed);
}

/* Not with each line: the counters are shared by all cores. */
static void
count_sent(struct lane *l)
{
    struct query_live *live = l->sh->env->live;

    add_to(&l->sh->lines_sent, l->nr_sent);
    if (live) {
        add_to(&live->lines_sent, l->nr_sent);
        add_to(&live->bytes_read, l->bytes_read);
        add_to(&live->bytes_sent, l->bytes_sent);
    }
    l->nr_sent = l->bytes_read = l->bytes_sent = 0;
}

/* ---- making ---- */

int
lane_new(struct lane_shared *sh, enum dt_role role, struct lane **out)
{
    struct lane *l = calloc(1, sizeof(*l));
    int rc;

    *out = NULL;
    if (!l) {
        return DT_ERR_NOMEM;
    }
    l->base.host = &lane_host;
    l->sh = sh;
    l->role = role;
    l->generation = 1;
    if (sh->spec->interval_ms > 0) {
        l->next_report_ms = clock_now_ms() + sh->spec->interval_ms;
    }
    pthread_mutex_init(&l->busy, NULL);
    packer_init(&l->packer, sh->env->out, sh->order, sh->cancel);
    rc = instance_start(sh->plugin, role, &l->base, &l->instance);
    if (rc != DT_OK) {
        pthread_mutex_destroy(&l->busy);
        free(l);
        return rc;
    }
    *out = l;
    return DT_OK;
}

void
lane_free(struct lane *l)
{
    if (!l) {
        return;
    }
    count_sent(l); /* of a unit that was not fed to its end */
    l->is_closing = true;
    instance_close(l->instance);
    unit_fini(&l->unit);
    packer_fini(&l->packer);
    buf_fini(&l->slack);
    pthread_mutex_destroy(&l->busy);
    free(l);
}

/* ---- feeding ---- */

int
lane_feed_run(struct lane *l, const struct unit *u, uint64_t first_line,
              uint64_t nr_lines)
{
    size_t max = (size_t)l->sh->env->config->server.max_line_length;
    size_t at = 0, len;
    uint32_t flags;
    int rc = DT_OK;

    while (rc == DT_OK && lines_piece(u->data + at, u->len - at, u->flags, max,
                                      &len, &flags)) {
        struct dt_block b = {.size = sizeof(b),
                             .source = u->input->id,
                             .flags = flags,
                             .data = u->data + at,
                             .len = len,
                             .first_line = first_line,
                             .nr_lines = len == u->len ? nr_lines : 0,
                             .offset = u->offset + at,
                             .sequence = u->seq,
                             .generation =
                                 l->sh->spec->follow ? l->generation : 0};

        if (u->is_first && l->is_first_run) {
            b.flags |= DT_BLOCK_FIRST;
        }
        l->is_first_run = false;
        if (first_line) {
            if (len != u->len) {
                b.nr_lines = lines_count(b.data, len, flags, max);
            }
            first_line += b.nr_lines;
        }
        rc = l->sh->is_normal ? instance_feed_lines(l->instance, &b)
                              : instance_feed(l->instance, &b);
        at += len;
    }
    l->bytes_read += at;
    if (rc == DT_STOP) {
        atomic_store(&u->input->is_stopped, true);
        rc = DT_OK;
    }
    return rc;
}

static int
feed_empty(struct lane *l, const struct unit *u, uint32_t flags)
{
    const struct dt_block b = {.size = sizeof(b),
                               .source = u->input->id,
                               .flags =
                                   flags | (u->is_first ? DT_BLOCK_FIRST : 0),
                               .data = "",
                               .sequence = u->seq};

    return instance_feed(l->instance, &b);
}

int
lane_feed_begin(struct lane *l, const struct unit *u)
{
    int rc = feed_empty(l, u, 0);

    if (rc == DT_STOP) {
        atomic_store(&u->input->is_stopped, true);
        rc = DT_OK;
    }
    return rc;
}

int
lane_feed_last(struct lane *l, const struct unit *u)
{
    int rc = feed_empty(l, u, DT_BLOCK_LAST);

    return rc == DT_STOP ? DT_OK : rc;
}

void
lane_set_generation(struct lane *l, uint32_t generation)
{
    l->generation = generation;
}

const struct lane_place *
lane_place(const struct lane *l)
{
    return &l->place;
}

int
lane_begin_unit(struct lane *l, const struct unit *u)
{
    l->is_first_run = true;
    l->place.is_set = l->place.has_lines = false;
    packer_begin(&l->packer, u->seq);
    return order_wait_room(l->sh->order, u->seq);
}

int
lane_end_unit(struct lane *l)
{
    count_sent(l);
    return packer_end(&l->packer);
}

int
lane_show(struct lane *l)
{
    return packer_show(&l->packer);
}

uint64_t
lane_count_run(struct lane *l, const struct unit *u)
{
    size_t max = (size_t)l->sh->env->config->server.max_line_length;
    uint64_t nr;

    if (!l->sh->is_numbered) {
        return 0;
    }
    nr = lines_count(u->data, u->len, u->flags, max);
    atomic_fetch_add_explicit(&l->sh->lines_read, nr, memory_order_relaxed);
    return nr;
}

/* Feeds the present run and all behind it; *next is the number of its first
 * line (0: not counted) and becomes that of the line behind the unit. */
static int
feed_runs(struct lane *l, struct unit *u, uint64_t *next)
{
    int rc = DT_OK;

    while (rc == DT_OK && !atomic_load(&u->input->is_stopped)) {
        uint64_t nr = lane_count_run(l, u);

        rc = lane_feed_run(l, u, *next, nr);
        *next += nr;
        if (rc == DT_OK) {
            rc = unit_next_run(inputs_args(l->sh->inputs), u);
        }
    }
    return rc == DT_STOP ? DT_OK : rc;
}

/* A unit of one run tells the number behind it before it is fed, so that its
 * successor need not wait; others only at their end. */
static int
feed_numbered(struct lane *l, struct unit *u, bool is_empty)
{
    struct order *o = l->sh->order;
    uint64_t next = 1, nr;
    int rc;

    if (is_empty || u->has_more) {
        rc = order_line_begin(o, u->seq, u->is_first, &next);
        if (rc == DT_OK && !is_empty) {
            rc = feed_runs(l, u, &next);
        }
        order_line_end(o, u->seq, next);
        return rc;
    }
    nr = lane_count_run(l, u);
    rc = order_line_begin(o, u->seq, u->is_first, &next);
    if (rc == DT_OK) {
        order_line_end(o, u->seq, next + nr);
        rc = lane_feed_run(l, u, next, nr);
    }
    return rc;
}

static int
feed_unit(struct lane *l, struct unit *u)
{
    int rc = unit_next_run(inputs_args(l->sh->inputs), u);
    bool is_empty = rc == DT_STOP;
    uint64_t uncounted = 0;

    if (rc != DT_OK && rc != DT_STOP) {
        return rc;
    }
    if (l->sh->is_numbered) {
        rc = feed_numbered(l, u, is_empty);
    } else {
        rc = is_empty ? DT_OK : feed_runs(l, u, &uncounted);
    }
    if (rc == DT_OK && u->is_last) {
        rc = lane_feed_last(l, u);
    }
    return rc;
}

/* From a unit to its end; between two units others may have the lane report. */
static int
run_unit(struct lane *l, struct unit *u)
{
    int rc = lane_begin_unit(l, u), end;

    if (rc == DT_OK) {
        rc = feed_unit(l, u);
    }
    if (rc == DT_OK) {
        rc = lane_report(l);
    }
    end = lane_end_unit(l);
    if (!u->is_slice && end == DT_OK) {
        end = lane_show(l);
    }
    inputs_release(l->sh->inputs, u);
    return rc == DT_OK ? end : rc;
}

int
lane_run(struct lane *l)
{
    int rc;

    while ((rc = inputs_next(l->sh->inputs, &l->unit)) == DT_OK) {
        pthread_mutex_lock(&l->busy);
        rc = run_unit(l, &l->unit);
        l->is_over = rc != DT_OK;
        pthread_mutex_unlock(&l->busy);
        if (rc != DT_OK) {
            break;
        }
    }
    return rc == DT_STOP ? DT_OK : rc;
}

/* ---- reports ---- */

static int
drain_all(struct lane *l, enum dt_drain why)
{
    int rc;

    do {
        rc = instance_drain(l->instance, why);
    } while (rc == DT_AGAIN);
    return rc;
}

int
lane_report_combined(struct lane_shared *sh, bool is_due)
{
    int64_t now = clock_now_ms();
    int rc = DT_OK;

    if (!sh->combine) {
        return DT_OK;
    }
    pthread_mutex_lock(&sh->combine_lock);
    if (is_due || now >= sh->combine_next_ms) {
        sh->combine_next_ms = now + sh->spec->interval_ms;
        rc = lane_drain(sh->combine, DT_DRAIN_INTERVAL);
    }
    pthread_mutex_unlock(&sh->combine_lock);
    return rc;
}

int
lane_report(struct lane *l)
{
    int64_t now = l->next_report_ms ? clock_now_ms() : 0;
    int rc;

    if (l->next_report_ms == 0 || now < l->next_report_ms) {
        return DT_OK;
    }
    l->next_report_ms = now + l->sh->spec->interval_ms;
    rc = drain_all(l, DT_DRAIN_INTERVAL);
    return rc == DT_OK ? lane_report_combined(l->sh, false) : rc;
}

int64_t
lane_next_report(const struct lane *l)
{
    return l->next_report_ms ? l->next_report_ms : -1;
}

int
lane_report_idle(struct lane *l)
{
    int rc = DT_OK;

    if (pthread_mutex_trylock(&l->busy) != 0) {
        return DT_OK;
    }
    if (!l->is_over) {
        l->next_report_ms = clock_now_ms() + l->sh->spec->interval_ms;
        rc = lane_drain(l, DT_DRAIN_INTERVAL);
        l->is_over = rc != DT_OK;
    }
    pthread_mutex_unlock(&l->busy);
    return rc;
}

/* ---- the end ---- */

int
lane_finish(struct lane *l)
{
    packer_alone(&l->packer); /* there are no units any more */
    return instance_finish(l->instance);
}

int
lane_drain(struct lane *l, enum dt_drain why)
{
    int rc;

    packer_alone(&l->packer);
    do {
        rc = instance_drain(l->instance, why);
        if (rc == DT_OK || rc == DT_AGAIN) {
            int pushed = packer_push(&l->packer);

            rc = pushed == DT_OK ? rc : pushed;
        }
    } while (rc == DT_AGAIN);
    count_sent(l); /* also of finish */
    return rc;
}
