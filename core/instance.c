/* SPDX-License-Identifier: Apache-2.0
 *
 * Instances of a plugin's stage: the only place that calls their hooks.
 *
 * Threads: an instance belongs to one thread at a time; which one may change
 * between two calls. A second one inside is a fault of the core: it is told
 * and gets DT_ERR_INTERNAL.
 */
#include "cleanup.h"
#include "plugin-crash.h"
#include "plugin.h"

#include <bytes.h>

#include <stdatomic.h>

/* Forward only. */
enum instance_state {
    INSTANCE_FEEDING,  /* started */
    INSTANCE_DRAINING, /* finish has been called */
    INSTANCE_DRAINED,  /* the last drain answered DT_OK */
    INSTANCE_FAILED    /* only close is left */
};

struct instance {
    const struct plugin *plugin;
    const struct dt_stage *stage;
    struct dt_query *query;
    void *self; /* the plugin's */
    enum instance_state state;
    atomic_bool is_busy;
    struct plugin_mark before; /* what ran around the present hook */
};

/* Tells a failure; a text that the plugin gave came before it and wins. */
static int
fail(struct instance *i, const char *hook, int status, const char *why)
{
    i->state = INSTANCE_FAILED;
    if (status != DT_ERR_CANCELLED) {
        dt_error(i->query, status, "plugin %s: %s %s", plugin_name(i->plugin),
                 hook, why);
    }
    return status;
}

static int
fail_answer(struct instance *i, const char *hook, int answer)
{
    char why[80];

    snprintf(why, sizeof(why), "answered %d, which it may not", answer);
    return fail(i, hook, DT_ERR_INTERNAL, why);
}

/* Maps the answer of a hook that may answer DT_OK, an error, or `other`. */
static int
check_answer(struct instance *i, const char *hook, int answer, int other)
{
    char why[80];

    if (answer == DT_OK || answer == other) {
        return answer;
    }
    if (answer > 0 || answer < DT_ERR_INTERNAL) {
        return fail_answer(i, hook, answer);
    }
    snprintf(why, sizeof(why), "failed: %s", dt_strerror(answer));
    return fail(i, hook, answer, why);
}

/* DT_OK when the hook may be called now, which it may in the state `in`; then
 * leave() must follow. */
static int
enter(struct instance *i, const char *hook, enum instance_state in)
{
    int r = DT_OK;

    if (atomic_exchange_explicit(&i->is_busy, true, memory_order_acquire)) {
        /* the state is the other thread's: hands off */
        return dt_error(i->query, DT_ERR_INTERNAL,
                        "plugin %s: %s called from two threads at once",
                        plugin_name(i->plugin), hook);
    }
    if (i->state != in) {
        r = fail(i, hook, DT_ERR_INTERNAL, "called out of order");
    } else if (i->query->host->cancelled(i->query)) {
        r = fail(i, hook, DT_ERR_CANCELLED, "");
    }
    if (r < 0) {
        atomic_store_explicit(&i->is_busy, false, memory_order_release);
        return r;
    }
    i->before = plugin_enter(plugin_name(i->plugin), hook);
    return DT_OK;
}

static int
leave(struct instance *i, int status)
{
    plugin_leave(i->before);
    atomic_store_explicit(&i->is_busy, false, memory_order_release);
    return status;
}

static const struct dt_stage *
find_stage(const struct plugin *p, enum dt_role role)
{
    const struct dt_plugin *d = plugin_refused(p) ? NULL : plugin_descriptor(p);

    if (!d) {
        return NULL;
    }
    return role == DT_ROLE_MAP ? d->map : d->reduce;
}

int
instance_start(const struct plugin *p, enum dt_role role, struct dt_query *q,
               struct instance **out)
{
    const struct dt_stage *stage = find_stage(p, role);
    struct instance *i;
    int r;

    *out = NULL;
    if (!stage) {
        return dt_error(q, DT_ERR_NOENT, "plugin %s has no %s stage",
                        plugin_name(p), role == DT_ROLE_MAP ? "map" : "reduce");
    }
    i = calloc(1, sizeof(*i));
    if (!i) {
        return dt_error(q, DT_ERR_NOMEM, "out of memory");
    }
    i->plugin = p;
    i->stage = stage;
    i->query = q;
    r = enter(i, "start", INSTANCE_FEEDING);
    if (r == DT_OK) {
        r = leave(i,
                  check_answer(i, "start", stage->start(q, &i->self), DT_OK));
    }
    if (r < 0) {
        free(i);
        return r;
    }
    *out = i;
    return DT_OK;
}

int
instance_feed(struct instance *i, const struct dt_block *block)
{
    int r = enter(i, "feed", INSTANCE_FEEDING);

    if (r < 0) {
        return r;
    }
    return leave(
        i, check_answer(i, "feed", i->stage->feed(i->self, block), DT_STOP));
}

/* Makes *line the next line of `run`; false at its end. */
static bool
next_line(const struct dt_block *run, struct dt_block *line)
{
    size_t at = (size_t)(line->data - run->data) + line->len;
    size_t left = run->len - at;
    const char *nl;

    if (left == 0) {
        return false;
    }
    if (at > 0) {
        line->flags = DT_BLOCK_LINE; /* no longer the first */
        line->first_line += line->first_line > 0;
        line->offset += line->len;
    }
    line->data = run->data + at;
    nl = bytes_find_newline(line->data, line->data + left);
    line->len = nl ? (size_t)(nl - line->data) + 1 : left;
    if (!nl) {
        line->flags |= run->flags & (DT_BLOCK_NOEOL | DT_BLOCK_CUT);
    }
    return true;
}

int
instance_feed_lines(struct instance *i, const struct dt_block *run)
{
    struct dt_block line = *run;
    int r = enter(i, "feed", INSTANCE_FEEDING);

    if (r < 0) {
        return r;
    }
    line.len = 0;
    line.nr_lines = 1;
    line.flags = (run->flags & DT_BLOCK_FIRST) | DT_BLOCK_LINE;
    while (r == DT_OK && next_line(run, &line)) {
        r = i->stage->feed(i->self, &line);
    }
    return leave(i, check_answer(i, "feed", r, DT_STOP));
}

int
instance_finish(struct instance *i)
{
    int r = enter(i, "finish", INSTANCE_FEEDING);

    if (r < 0) {
        return r;
    }
    i->state = INSTANCE_DRAINING;
    if (i->stage->finish) {
        r = check_answer(i, "finish", i->stage->finish(i->self), DT_OK);
    }
    return leave(i, r);
}

int
instance_drain(struct instance *i, enum dt_drain why)
{
    bool is_final = why == DT_DRAIN_FINAL;
    int r = enter(i, "drain", is_final ? INSTANCE_DRAINING : INSTANCE_FEEDING);

    if (r < 0) {
        return r;
    }
    if (i->stage->drain) {
        r = check_answer(i, "drain", i->stage->drain(i->self, why), DT_AGAIN);
    }
    if (r == DT_OK && is_final) {
        i->state = INSTANCE_DRAINED;
    }
    return leave(i, r);
}

void
instance_close(struct instance *i)
{
    if (!i) {
        return;
    }
    /* cancelled or not, whatever the state: close always runs */
    if (i->stage->close) {
        i->before = plugin_enter(plugin_name(i->plugin), "close");
        i->stage->close(i->self);
        plugin_leave(i->before);
    }
    free(i);
}
