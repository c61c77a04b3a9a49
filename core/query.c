/* SPDX-License-Identifier: Apache-2.0
 *
 * One query: its lanes, its threads, its states and its end.
 *
 * The query's own thread is the only writer of the state. Others ask for an
 * end by the cancel, which every wait of the query looks at.
 */
#include "query.h"

#include "clock.h"
#include "config.h"
#include "following.h"
#include "lane.h"
#include "normal.h"
#include "reporter.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#define MAX_THREADS 64

struct query {
    struct query_env env;
    struct query_spec spec;
    struct cancel cancel;
    struct lane_shared shared;
    struct lane *lanes[MAX_THREADS];
    int nr_lanes;
    struct lane *combine;
    bool is_turbo;
    bool is_started; /* the thread runs or ran */
    pthread_t thread;
    _Atomic bool is_sent_home; /* followed, and the server stops */
    _Atomic int state;         /* enum query_state */
    struct query_end end;      /* once DONE */
};

/* ---- states ---- */

static void
set_state(struct query *q, enum query_state to)
{
    assert(query_state_may((enum query_state)atomic_load(&q->state), to));
    atomic_store(&q->state, (int)to);
}

enum query_state
query_state(const struct query *q)
{
    return (enum query_state)atomic_load(&q->state);
}

uint32_t
query_id(const struct query *q)
{
    return q->spec.id;
}

int
query_status(const struct query *q)
{
    return q->end.status;
}

const struct query_end *
query_result(const struct query *q)
{
    return &q->end;
}

bool
query_is_turbo(const struct query *q)
{
    return q->is_turbo;
}

void
query_cancel(struct query *q, enum cancel_why why)
{
    cancel_set(&q->cancel, why);
    order_interrupt(q->shared.order);
    inputs_interrupt(q->shared.inputs);
    outq_interrupt(q->env.out);
}

void
query_stop_reading(struct query *q)
{
    inputs_stop(q->shared.inputs);
}

void
query_finish_following(struct query *q)
{
    if (q->spec.follow) {
        atomic_store(&q->is_sent_home, true);
        inputs_stop(q->shared.inputs);
    }
}

/* ---- the end ---- */

static int
post_end(struct outq *out, uint32_t id, const struct query_end *end)
{
    struct buf json = {0};
    int rc = query_end_format(end, &json);

    if (rc == DT_OK) {
        const struct wire_frame f = {.type = WIRE_S_END,
                                     .query = id,
                                     .data = json.data,
                                     .len = json.len};
        rc = outq_post(out, &f);
    }
    buf_fini(&json);
    return rc;
}

int
query_post_end(struct outq *out, uint32_t id, int status, const char *message)
{
    const struct query_end end = {.status = status,
                                  .message = (char *)(uintptr_t)message};

    return post_end(out, id, &end);
}

static const char *
cancel_text(enum cancel_why why)
{
    switch (why) {
    case CANCEL_DEADLINE:
        return "time limit reached";
    case CANCEL_SHUTDOWN:
        return "the server is shutting down";
    default:
        return "cancelled";
    }
}

/* What the END frame says; the text is not the struct's own. */
static void
describe_end(struct query *q, int rc, struct query_end *end)
{
    struct lane_shared *sh = &q->shared;

    *end = (struct query_end){.status = rc, .turbo = q->is_turbo};
    inputs_counters(sh->inputs, end);
    end->lines_read = atomic_load(&sh->lines_read);
    end->lines_sent = atomic_load(&sh->lines_sent);
    if (sh->status != DT_OK) {
        end->status = sh->status;
        end->message = sh->text;
    } else if (rc == DT_ERR_CANCELLED) {
        end->message = (char *)(uintptr_t)cancel_text(
            (enum cancel_why)atomic_load(&q->cancel.why));
    } else if (rc != DT_OK) {
        end->message = (char *)(uintptr_t)dt_strerror(rc);
    } else if (atomic_load(&q->is_sent_home)) {
        /* all was given out, but the client has reason to come back */
        end->status = DT_ERR_CANCELLED;
        end->message = (char *)(uintptr_t)cancel_text(CANCEL_SHUTDOWN);
    }
}

/* ---- running ---- */

/* How many instances; the first is started, and may have asked for order. */
static int
wanted_lanes(const struct query *q)
{
    const struct dt_plugin *d = plugin_descriptor(q->shared.plugin);
    int nr = plugin_threads(q->shared.plugin);

    if (!q->is_turbo || !(d->flags & DT_PARALLEL) || q->shared.is_ordered ||
        q->spec.follow) {
        return 1;
    }
    return nr < 1 ? 1 : nr > MAX_THREADS ? MAX_THREADS : nr;
}

static int
start_lanes(struct query *q)
{
    const struct dt_plugin *d = plugin_descriptor(q->shared.plugin);
    int wanted = 1, rc;

    while (q->nr_lanes < wanted) {
        rc = lane_new(&q->shared, DT_ROLE_MAP, &q->lanes[q->nr_lanes]);
        if (rc != DT_OK) {
            return rc;
        }
        q->nr_lanes++;
        wanted = wanted_lanes(q);
    }
    inputs_by_slices(q->shared.inputs, wanted > 1);
    if (wanted > 1 && (d->flags & DT_COMBINE) && d->reduce) {
        rc = lane_new(&q->shared, DT_ROLE_COMBINE, &q->combine);
        if (rc != DT_OK) {
            return rc;
        }
        q->shared.combine = q->combine;
        if (q->spec.interval_ms > 0) {
            q->shared.combine_next_ms = clock_now_ms() + q->spec.interval_ms;
        }
    }
    return DT_OK;
}

struct helper {
    struct lane *lane;
    struct lane_shared *shared;
    pthread_t thread;
    int status;
};

static void *
helper_main(void *arg)
{
    struct helper *h = arg;

    h->status = lane_run(h->lane);
    if (h->status != DT_OK) {
        lane_fail(h->shared, h->status, dt_strerror(h->status));
    }
    return NULL;
}

/* Standard input ends by itself, and is read as by the other commands. */
static bool
is_following(const struct query *q)
{
    const char *first = q->spec.files.v[0];

    return q->spec.follow && !(q->env.is_serverless && q->spec.files.nr == 1 &&
                               (strcmp(first, "-") == 0 || *first == '\0'));
}

/* One slot a followed query, for as long as it runs. */
static int
run_following(struct query *q)
{
    struct holding *h = inputs_holding(q->shared.inputs);
    int rc = holding_take(h);

    if (rc == DT_OK) {
        rc = following_run(q->lanes[0], &q->shared);
        holding_give(h);
    }
    return rc;
}

/* Runs the lanes side by side, the first in this thread. */
static int
run_lanes(struct query *q)
{
    struct helper helpers[MAX_THREADS];
    struct reporter *reporter;
    int nr = 0, rc;

    if (is_following(q)) {
        return run_following(q);
    }
    if (!q->is_turbo) {
        return normal_run(q->lanes[0], &q->shared);
    }
    rc = reporter_new(&q->shared, q->lanes, q->nr_lanes, &reporter);
    if (rc != DT_OK) {
        return lane_fail(&q->shared, rc, "cannot start a thread");
    }
    for (int i = 1; i < q->nr_lanes && rc == DT_OK; i++) {
        helpers[nr] =
            (struct helper){.lane = q->lanes[i], .shared = &q->shared};
        if (pthread_create(&helpers[nr].thread, NULL, helper_main,
                           &helpers[nr]) != 0) {
            rc = lane_fail(&q->shared, DT_ERR_LIMIT, "cannot start a thread");
        } else {
            nr++;
        }
    }
    if (rc == DT_OK) {
        rc = lane_run(q->lanes[0]);
        if (rc != DT_OK) {
            lane_fail(&q->shared, rc, dt_strerror(rc));
        }
    }
    for (int i = 0; i < nr; i++) {
        pthread_join(helpers[i].thread, NULL);
        rc = rc == DT_OK ? helpers[i].status : rc;
    }
    reporter_free(reporter);
    return rc;
}

/* finish and drain of every instance, the combining one last. */
static int
finish_lanes(struct query *q)
{
    int rc = DT_OK;

    set_state(q, QUERY_FINISHING);
    for (int i = 0; i < q->nr_lanes && rc == DT_OK; i++) {
        rc = lane_finish(q->lanes[i]);
    }
    if (rc != DT_OK) {
        return rc;
    }
    set_state(q, QUERY_DRAINING);
    for (int i = 0; i < q->nr_lanes && rc == DT_OK; i++) {
        rc = lane_drain(q->lanes[i], DT_DRAIN_FINAL);
    }
    if (q->combine && rc == DT_OK) {
        rc = lane_finish(q->combine);
        if (rc == DT_OK) {
            rc = lane_drain(q->combine, DT_DRAIN_FINAL);
        }
    }
    return rc;
}

static int
run(struct query *q)
{
    struct error err = ERROR_INIT;
    int rc;

    rc = is_following(q) ? DT_OK : inputs_expand(q->shared.inputs, &err);
    if (rc != DT_OK) {
        return lane_fail(&q->shared, rc, err.text);
    }
    rc = start_lanes(q);
    if (rc == DT_OK) {
        rc = run_lanes(q);
    }
    return rc == DT_OK ? finish_lanes(q) : rc;
}

static void
close_lanes(struct query *q)
{
    for (int i = 0; i < q->nr_lanes; i++) {
        lane_free(q->lanes[i]);
    }
    q->nr_lanes = 0;
    lane_free(q->combine);
    q->combine = NULL;
}

static void *
query_main(void *arg)
{
    struct query *q = arg;
    int rc;

    set_state(q, QUERY_RUNNING);
    rc = run(q);
    if (rc != DT_OK) {
        lane_fail(&q->shared, rc, dt_strerror(rc));
        set_state(q,
                  q->shared.status == DT_OK ? QUERY_CANCELLED : QUERY_FAILED);
    }
    close_lanes(q);
    describe_end(q, rc, &q->end);
    /* first the state: with END the client may use the number again */
    set_state(q, QUERY_DONE);
    post_end(q->env.out, q->spec.id, &q->end);
    eventfd_write(q->env.done_fd, 1);
    return NULL;
}

/* ---- starting ---- */

static int
check_args(const struct query_spec *spec, const struct dt_plugin *d,
           struct error *err)
{
    const struct dt_arg_spec *known;

    for (size_t i = 0; i < spec->nr_args; i++) {
        const char *name = spec->args[i].name;
        size_t earlier = 0;

        for (known = d->args; known && known->name; known++) {
            if (strcmp(known->name, name) == 0) {
                break;
            }
        }
        if (!known || !known->name) {
            return error_set(err, DT_ERR_INVAL,
                             "%s has no argument \"%s\" (`drun --list` shows "
                             "what it takes)",
                             d->name, name);
        }
        for (size_t j = 0; j < i; j++) {
            earlier += strcmp(spec->args[j].name, name) == 0;
        }
        if (earlier && !(known->flags & DT_ARG_REPEAT)) {
            return error_set(err, DT_ERR_INVAL,
                             "%s takes its argument \"%s\" only once", d->name,
                             name);
        }
    }
    for (known = d->args; known && known->name; known++) {
        size_t given = 0;

        for (size_t i = 0; i < spec->nr_args; i++) {
            given += strcmp(spec->args[i].name, known->name) == 0;
        }
        if ((known->flags & DT_ARG_REQUIRED) && given == 0) {
            return error_set(err, DT_ERR_INVAL,
                             "%s needs its argument \"%s\": %s", d->name,
                             known->name, known->help ? known->help : "");
        }
    }
    return DT_OK;
}

static int
check_spec(const struct query_env *env, const struct query_spec *spec,
           const struct plugin **plugin, struct error *err)
{
    const struct dt_plugin *d;

    *plugin = plugins_find(env->plugins, spec->plugin ? spec->plugin : "");
    if (!*plugin) {
        struct buf names = {0};

        plugins_names(env->plugins, &names);
        error_set(err, DT_ERR_NOENT, "no command \"%s\" here; there are: %.*s",
                  spec->plugin ? spec->plugin : "", (int)names.len,
                  names.data ? names.data : "");
        buf_fini(&names);
        return DT_ERR_NOENT;
    }
    d = plugin_descriptor(*plugin);
    if (spec->files.nr == 0) {
        return error_set(err, DT_ERR_INVAL, "%s: no files were named", d->name);
    }
    if (spec->follow && !(d->flags & DT_FOLLOW)) {
        return error_set(err, DT_ERR_INVAL, "%s cannot follow files", d->name);
    }
    if (spec->partial_format && spec->partial_format != d->partial_format) {
        return error_set(err, DT_ERR_ABI,
                         "%s %s writes partial results of format %u, the "
                         "client reads format %u: use the same version on "
                         "both sides",
                         d->name, d->version, d->partial_format,
                         spec->partial_format);
    }
    return check_args(spec, d, err);
}

/* The client takes nothing: its slots serve others meanwhile. */
static void
on_hold(void *ctx, bool is_held)
{
    struct query *q = ctx;

    if (is_held) {
        holding_yield(inputs_holding(q->shared.inputs));
    } else {
        holding_regain(inputs_holding(q->shared.inputs));
    }
}

static int
query_init(struct query *q, const struct query_env *env,
           const struct query_spec *spec)
{
    struct lane_shared *sh = &q->shared;
    const struct dt_plugin *d = plugin_descriptor(sh->plugin);
    const char *reason;

    q->env = *env;
    pthread_mutex_init(&sh->lock, NULL);
    pthread_mutex_init(&sh->combine_lock, NULL);
    if (cancel_init(&q->cancel) != DT_OK) {
        return DT_ERR_LIMIT;
    }
    if (query_spec_copy(&q->spec, spec) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    q->cancel.hold_ms = env->config->server.slot_hold_ms;
    q->cancel.on_hold = on_hold;
    q->cancel.hold_ctx = q;
    q->is_turbo = plugin_turbo(sh->plugin, &reason) && !spec->turbo_off;
    sh->env = &q->env;
    sh->spec = &q->spec;
    sh->cancel = &q->cancel;
    sh->is_normal = !q->is_turbo;
    sh->is_numbered = !spec->plain || (d->flags & DT_NUMBERS);
    const struct inputs_args args = {
        .env = &q->env,
        .spec = &q->spec,
        .cancel = &q->cancel,
        .verbatim = spec->plain && (d->flags & DT_VERBATIM),
    };
    sh->inputs = inputs_new(&args);
    sh->order = order_new(env->out, &q->cancel);
    return sh->inputs && sh->order ? DT_OK : DT_ERR_NOMEM;
}

int
query_start(const struct query_env *env, const struct query_spec *spec,
            struct query **out, struct error *err)
{
    const struct plugin *plugin;
    struct query *q;
    int rc = check_spec(env, spec, &plugin, err);

    *out = NULL;
    if (rc != DT_OK) {
        return rc;
    }
    q = calloc(1, sizeof(*q));
    if (!q) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    q->cancel.fd = -1;
    q->shared.plugin = plugin;
    rc = query_init(q, env, spec);
    if (rc == DT_OK && pthread_create(&q->thread, NULL, query_main, q) != 0) {
        rc = DT_ERR_LIMIT;
    }
    if (rc != DT_OK) {
        query_free(q);
        return error_set(err, rc, "cannot start the query: %s",
                         dt_strerror(rc));
    }
    q->is_started = true;
    *out = q;
    return DT_OK;
}

void
query_free(struct query *q)
{
    if (!q) {
        return;
    }
    if (q->is_started) {
        pthread_join(q->thread, NULL);
    }
    pthread_mutex_destroy(&q->shared.lock);
    pthread_mutex_destroy(&q->shared.combine_lock);
    inputs_free(q->shared.inputs);
    order_free(q->shared.order);
    query_spec_fini(&q->spec);
    cancel_fini(&q->cancel);
    free(q);
}
