/* SPDX-License-Identifier: Apache-2.0
 *
 * trouble: does what no plugin should, as its arguments say: `do` in the hook
 * `hook` of the stage `stage` (default: feed of map). Without `do` it is cat.
 */
#include <dtail/plugin.h>

#include <signal.h>
#include <stdlib.h>

struct trouble {
    struct dt_query *query;
    const char *what;
    const char *hook;
    bool is_here; /* this stage is the one */
    uint64_t nr_drains;
};

static bool
is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static const char *
argument(struct dt_query *q, const char *name, const char *otherwise)
{
    const char *value = dt_arg(q, name, 0, NULL);

    return value ? value : otherwise;
}

/* Writes down its own stack until that is used up. */
__attribute__((noinline)) static int
overflow(volatile int *depth)
{
    volatile int further = *depth + 1;
    volatile char fill[1024];

    fill[0] = (char)further;
    return further < 0 ? 0 : overflow(&further) + fill[0];
}

static void
crash(const char *how)
{
    volatile int zero = 0;

    if (is(how, "abort")) {
        abort();
    } else if (is(how, "overflow")) {
        zero = overflow(&zero);
    } else if (is(how, "division")) {
        raise(SIGFPE); /* not every processor traps one */
    } else if (is(how, "crash")) {
        /* not NULL itself: UBSan would stop at that */
        *(volatile int *)((uintptr_t)zero + 64) = 1;
    }
}

/* Emits for ever; only an error of the host ends it. */
static int
emit_endless(struct dt_query *q)
{
    static const char text[] = "again and again\n";
    int r;

    do {
        r = dt_role(q) == DT_ROLE_MAP
                ? dt_emit_partial(q, text, sizeof(text) - 1)
                : dt_emit_text(q, text, sizeof(text) - 1);
    } while (r == DT_OK);
    return r;
}

/* What the hook does instead of its work. DT_OK: nothing, go on. */
static int
misbehave(struct trouble *t, const char *hook)
{
    if (!t->is_here || !is(t->hook, hook)) {
        return DT_OK;
    }
    crash(t->what);
    if (is(t->what, "error")) {
        return dt_error(t->query, DT_ERR_LIMIT, "trouble: %s gives up", hook);
    }
    if (is(t->what, "silent")) {
        return DT_ERR_LIMIT;
    }
    if (is(t->what, "answer")) {
        return 77;
    }
    if (is(t->what, "negative")) {
        return -77;
    }
    if (is(t->what, "wrong")) {
        /* an answer that exists, but not for this hook */
        return is(hook, "drain") ? DT_STOP : DT_AGAIN;
    }
    if (is(t->what, "endless")) {
        return is(hook, "drain") ? DT_AGAIN : emit_endless(t->query);
    }
    return DT_OK;
}

static int
trouble_start(struct dt_query *q, void **self)
{
    struct trouble *t = (struct trouble *)calloc(1, sizeof(*t));
    const char *stage = argument(q, "stage", "map");
    int r;

    if (!t) {
        return DT_ERR_NOMEM;
    }
    t->query = q;
    t->what = argument(q, "do", "");
    t->hook = argument(q, "hook", "feed");
    t->is_here = is(stage, dt_role(q) == DT_ROLE_MAP ? "map" : "reduce");
    r = misbehave(t, "start");
    if (r != DT_OK) {
        free(t);
        return r;
    }
    *self = t;
    return DT_OK;
}

static int
trouble_feed(void *self, const struct dt_block *block)
{
    struct trouble *t = (struct trouble *)self;
    int r = misbehave(t, "feed");

    if (r != DT_OK || block->len == 0) {
        return r;
    }
    if (t->is_here && is(t->what, "mute")) {
        return DT_OK;
    }
    r = block->flags & DT_BLOCK_PARTIAL
            ? dt_emit_text(t->query, block->data, block->len)
            : dt_emit_block(t->query, block);
    return r == DT_OK && t->is_here && is(t->what, "stop") ? DT_STOP : r;
}

static int
trouble_finish(void *self)
{
    return misbehave((struct trouble *)self, "finish");
}

static int
trouble_drain(void *self, enum dt_drain why)
{
    struct trouble *t = (struct trouble *)self;

    (void)why;
    if (t->nr_drains++ == 0 && t->is_here && is(t->what, "stop")) {
        return dt_emit_text(t->query, "drained\n", 8);
    }
    return misbehave(t, "drain");
}

static void
trouble_close(void *self)
{
    struct trouble *t = (struct trouble *)self;

    misbehave(t, "close");
    if (t->is_here && is(t->what, "late")) {
        /* the end of the output is behind it: the host must not take it */
        dt_emit_text(t->query, "late\n", 5);
    }
    free(t);
}

/* There is no query: what needs one must say so. */
static int
trouble_load(struct dt_query *q, const char *config_json)
{
    struct dt_source source;

    dt_log(q, DT_LOG_DEBUG, "Config is %s", config_json);
    if (dt_emit_text(q, "text\n", 5) >= 0 ||
        dt_emit_partial(q, "bytes", 5) >= 0 ||
        dt_source(q, 1, &source) != DT_ERR_NOENT || dt_arg(q, "do", 0, NULL) ||
        dt_cancelled(q)) {
        return dt_error(q, DT_ERR_INTERNAL, "load is taken for a query");
    }
    return DT_OK;
}

static void
trouble_unload(void)
{
    setenv("DTAIL_TEST_UNLOADED", "yes", 1);
}

static const struct dt_stage trouble_stage = {
    .size = sizeof(struct dt_stage),
    .start = trouble_start,
    .feed = trouble_feed,
    .finish = trouble_finish,
    .drain = trouble_drain,
    .close = trouble_close,
};

static const struct dt_arg_spec trouble_args[] = {
    {"do",
     "crash, abort, overflow, division, error, silent, answer, negative, "
     "wrong, endless, mute, late, stop",
     0, 0},
    {"hook", "start, feed, finish, drain, close", 0, 0},
    {"stage", "map, reduce", 0, 0},
    {NULL, NULL, 0, 0},
};

static const struct dt_plugin plugin = {
    .abi = DT_PLUGIN_ABI,
    .flags = DT_TURBO | DT_PARALLEL | DT_FOLLOW,
    .size = sizeof(struct dt_plugin),
    .name = "trouble",
    .version = "1.0",
    .summary = "misbehaves as it is told",
    .args = trouble_args,
    .load = trouble_load,
    .unload = trouble_unload,
    .map = &trouble_stage,
    .reduce = &trouble_stage,
};

DT_REGISTER_PLUGIN(plugin)
