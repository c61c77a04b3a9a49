/* SPDX-License-Identifier: Apache-2.0
 *
 * The sources of a query as numbered units of work.
 *
 * Two kinds of exclusion: the turn is held while the next unit is made, which
 * may wait for a slot or for bytes of a pipe; the lock only for moments, so
 * that finished units can always be given back.
 */
#include "inputs.h"

#include "clock.h"
#include "config.h"
#include "fileglob.h"
#include "input-head.h"
#include "journal.h"
#include "source-open.h"
#include "turn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLICES_FROM (1024u * 1024u) /* smaller files are one unit */

struct inputs {
    struct inputs_args a;
    _Atomic bool is_stopping;
    struct source_targets targets;
    /* by the holder of the turn */
    size_t next_target;
    struct input *current;
    uint64_t next_seq;
    struct turn turn;
    /* under the lock */
    pthread_mutex_t lock;
    struct input **all; /* by id - 1, for lookups */
    size_t nr_all, cap_all;
    struct query_end count;
    struct holding holding;
};

#define NOTE(ins, ...) \
    query_note((ins)->a.env, (ins)->a.spec->id, (ins)->a.cancel, __VA_ARGS__)

/* ---- making ---- */

struct inputs *
inputs_new(const struct inputs_args *args)
{
    struct inputs *ins = calloc(1, sizeof(*ins));
    struct progress *progress =
        progress_new(args->env, args->spec->id, args->cancel, clock_now_ms());
    int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (!ins || !progress || stop_fd < 0) {
        if (stop_fd >= 0) {
            close(stop_fd);
        }
        progress_free(progress);
        free(ins);
        return NULL;
    }
    ins->a = *args;
    ins->a.progress = progress;
    ins->a.stop_fd = stop_fd;
    holding_init(&ins->holding, &args->env->slots, args->spec->follow,
                 args->cancel);
    pthread_mutex_init(&ins->lock, NULL);
    turn_init(&ins->turn, args->cancel);
    return ins;
}

static void
input_free(struct input *in)
{
    source_close(in->source);
    buf_fini(&in->carry);
    free(in->head);
    free(in->failure);
    pthread_mutex_destroy(&in->failure_lock);
    free(in->target.path);
    free(in->target.name);
    free(in);
}

void
inputs_free(struct inputs *ins)
{
    if (!ins) {
        return;
    }
    for (size_t i = 0; i < ins->nr_all; i++) {
        input_free(ins->all[i]);
    }
    free(ins->all);
    source_targets_fini(&ins->targets);
    holding_fini(&ins->holding);
    progress_free(ins->a.progress);
    close(ins->a.stop_fd);
    turn_fini(&ins->turn);
    pthread_mutex_destroy(&ins->lock);
    free(ins);
}

const struct inputs_args *
inputs_args(const struct inputs *ins)
{
    return &ins->a;
}

void
inputs_by_slices(struct inputs *ins, bool by_slices)
{
    ins->a.by_slices = by_slices;
}

static int
expand_one(struct inputs *ins, const char *pattern, struct error *err)
{
    const struct query_env *env = ins->a.env;
    size_t limit = (size_t)env->config->server.max_glob_targets;
    struct source_targets found = {0};
    int rc = source_expand(pattern, env->is_serverless, limit, &found, err);

    if (rc == DT_ERR_NOMEM) {
        return rc;
    }
    if (rc != DT_OK) {
        NOTE(ins, "%s", err->text);
        ins->count.failed++;
    } else if (found.nr == 0) {
        NOTE(ins, "Unable to read file(s), check server logs|%s|%s", pattern,
             fileglob_has_meta(pattern) ? "no file of this host matches"
                                        : "no such file");
        ins->count.failed++;
    } else if (found.matched > found.nr) {
        NOTE(ins,
             "Glob expansion exceeded server limit, only first targets "
             "served|limit|%zu|matched|%zu",
             limit, found.matched);
        ins->count.failed++;
    }
    rc = source_targets_append(&ins->targets, &found);
    source_targets_fini(&found);
    return rc;
}

int
inputs_expand(struct inputs *ins, struct error *err)
{
    for (size_t i = 0; i < ins->a.spec->files.nr; i++) {
        int rc = expand_one(ins, ins->a.spec->files.v[i], err);

        if (rc != DT_OK) {
            return error_set(err, rc, "cannot expand \"%s\"",
                             ins->a.spec->files.v[i]);
        }
        if (cancel_is_set(ins->a.cancel)) {
            return DT_ERR_CANCELLED;
        }
    }
    progress_expect(ins->a.progress, &ins->targets);
    return DT_OK;
}

/* ---- opening and closing ---- */

int
inputs_announce(struct inputs *ins, const struct input *in,
                const struct source_desc *desc)
{
    struct buf json = {0};
    int rc = source_desc_format(desc, &json);

    if (rc == DT_OK) {
        const struct wire_frame f = {.type = WIRE_S_SOURCE,
                                     .query = ins->a.spec->id,
                                     .source = in->id,
                                     .data = json.data,
                                     .len = json.len};
        rc = outq_push(ins->a.env->out, &f, ins->a.cancel);
    }
    buf_fini(&json);
    return rc;
}

/* Puts the input into the table of all. */
static int
list_input_locked(struct inputs *ins, struct input *in)
{
    if (ins->nr_all == ins->cap_all) {
        size_t cap = ins->cap_all ? ins->cap_all * 2 : 16;
        struct input **all = reallocarray(ins->all, cap, sizeof(*all));

        if (!all) {
            return DT_ERR_NOMEM;
        }
        ins->all = all;
        ins->cap_all = cap;
    }
    ins->all[ins->nr_all++] = in;
    in->id = (uint32_t)ins->nr_all;
    return DT_OK;
}

/* Makes the opened source the current input; takes it over. */
static int
begin_input(struct inputs *ins, const struct source_target *target,
            struct source *source)
{
    struct input *in = calloc(1, sizeof(*in));
    int rc;

    if (!in) {
        source_close(source);
        return DT_ERR_NOMEM;
    }
    pthread_mutex_init(&in->failure_lock, NULL);
    in->source = source;
    in->target.path = strdup(target->path);
    in->target.name = strdup(target->name);
    in->raw_size = source_raw_size(source);
    in->is_random = source_is_random(source);
    in->size = source_size(source);
    in->refs = 1;
    pthread_mutex_lock(&ins->lock);
    rc = in->target.path && in->target.name ? list_input_locked(ins, in)
                                            : DT_ERR_NOMEM;
    pthread_mutex_unlock(&ins->lock);
    if (rc != DT_OK) {
        input_free(in);
        return rc;
    }
    progress_begin(ins->a.progress, (size_t)(target - ins->targets.v),
                   in->raw_size, source_is_endless(source));
    ins->current = in;
    const struct source_desc desc = {.name = in->target.name,
                                     .name_len = strlen(in->target.name),
                                     .generation = 1};
    return inputs_announce(ins, in, &desc);
}

static void
count_failed(struct inputs *ins)
{
    pthread_mutex_lock(&ins->lock);
    ins->count.failed++;
    pthread_mutex_unlock(&ins->lock);
}

/* Why a target was not opened, to the user and into the count. */
static void
refuse_target(struct inputs *ins, const struct source_target *t, int rc,
              const struct error *err)
{
    const struct query_env *env = ins->a.env;
    const char *why = rc == DT_ERR_ACCES ? dt_strerror(rc) : err->text;

    if (!t->is_literal && rc == DT_ERR_INVAL) {
        return; /* a directory that a glob happens to match is no failure */
    }
    /* no reason that would tell of files outside the user's rights */
    if (rc == DT_ERR_ACCES && env->permission && env->log) {
        env->log(env->log_ctx, DT_LOG_INFO, err->text);
        why = source_denied(env->permission);
    }
    NOTE(ins, "%s|%s|%s",
         !t->is_stdin && journal_is_target(t->path)
             ? "Unable to read journal"
             : "Unable to read file(s), check server logs",
         t->path, why);
    count_failed(ins);
}

/* Opens the next target that can be opened. DT_STOP: none is left. */
static int
open_next(struct inputs *ins)
{
    const struct query_env *env = ins->a.env;
    const struct source_open_args args = {.permission = env->permission,
                                          .is_serverless = env->is_serverless,
                                          .verbatim = ins->a.verbatim,
                                          .journal_dir =
                                              env->config->server.journal_dir};

    while (ins->next_target < ins->targets.nr) {
        const struct source_target *t = &ins->targets.v[ins->next_target++];
        struct source *source = NULL;
        struct error err = ERROR_INIT;
        int rc = holding_take(&ins->holding);

        if (rc != DT_OK) {
            return rc;
        }
        rc = source_open(t, &args, &source, &err);
        if (rc == DT_OK) {
            rc = begin_input(ins, t, source);
            if (!ins->current) {
                holding_give(&ins->holding);
            }
            return rc;
        }
        holding_give(&ins->holding);
        if (rc == DT_ERR_NOMEM) {
            return rc; /* not the file's fault: the query's end */
        }
        refuse_target(ins, t, rc, &err);
    }
    return DT_STOP;
}

/* The last unit of a source is back: counts it and closes. */
static void
end_input(struct inputs *ins, struct input *in)
{
    uint64_t nr_long = atomic_load(&in->nr_long);
    uint64_t read = source_raw_offset(in->source);

    progress_end(ins->a.progress, in->raw_size, atomic_load(&in->raw_done),
                 read);
    pthread_mutex_lock(&ins->lock);
    ins->count.bytes_read += read;
    if (in->has_failed) {
        ins->count.failed++;
        ins->count.broken += in->is_broken;
    } else {
        ins->count.sources++;
    }
    pthread_mutex_unlock(&ins->lock);
    input_tell_failure(&ins->a, in);
    if (nr_long > 1) {
        NOTE(ins, "%s|Long log lines, %llu of them were split", in->target.path,
             (unsigned long long)nr_long);
    }
    source_close(in->source);
    in->source = NULL;
    buf_fini(&in->carry);
    holding_give(&ins->holding);
}

/* ---- units ---- */

static void
keep_head(struct inputs *ins, struct input *in, const struct unit *u)
{
    pthread_mutex_lock(&ins->lock);
    input_keep_head(in, u->data, u->len);
    pthread_mutex_unlock(&ins->lock);
}

/* Decides what the next unit of the current input is. DT_AGAIN: it had no
 * bytes left, ask again. */
static int
make_unit(struct inputs *ins, struct unit *u)
{
    struct input *in = ins->current;
    int rc = DT_OK;

    u->input = in;
    u->is_first = !in->is_begun;
    u->is_last = in->is_exhausted || atomic_load(&in->is_stopped);
    u->is_slice = false;
    u->has_more = false;
    u->is_fresh = true;
    u->len = 0;
    u->mem.len = 0;
    u->flags = 0;
    if (u->is_last) {
        ins->current = NULL; /* the unit takes over the list's reference */
        u->seq = ins->next_seq++;
        return DT_OK;
    }
    if (in->is_random) {
        bool is_cut = ins->a.by_slices && in->size >= SLICES_FROM &&
                      in->next + INPUTS_SLICE < in->size;

        u->is_slice = true;
        u->is_aligned = in->next == 0;
        u->is_inside = false;
        u->pos = in->next;
        u->end = is_cut ? in->next + INPUTS_SLICE : UINT64_MAX;
        in->next = u->end;
        in->is_exhausted = !is_cut;
        u->has_more = true;
    } else {
        rc = unit_read_chunk(&ins->a, u);
        if (rc == DT_OK && u->len == 0) {
            return DT_AGAIN;
        }
        if (rc == DT_OK && u->is_first && ins->a.by_slices) {
            keep_head(ins, in, u);
        }
    }
    if (rc == DT_OK) {
        in->is_begun = true;
        pthread_mutex_lock(&ins->lock);
        in->refs++;
        pthread_mutex_unlock(&ins->lock);
        u->seq = ins->next_seq++;
    }
    return rc;
}

/* Reading is over: a begun source still gets its end. */
static int
stop_current(struct inputs *ins)
{
    if (!ins->current) {
        return DT_STOP;
    }
    atomic_store(&ins->current->is_stopped, true);
    return DT_OK;
}

/* By the holder of the turn. */
static int
next_unit(struct inputs *ins, struct unit *u)
{
    int rc = DT_OK;

    do {
        if (atomic_load(&ins->is_stopping)) {
            rc = stop_current(ins);
        } else if (!ins->current) {
            rc = open_next(ins);
        }
        if (rc == DT_OK || rc == DT_AGAIN) {
            rc = make_unit(ins, u);
        }
    } while (rc == DT_AGAIN);
    if (rc != DT_OK) {
        u->input = NULL;
    }
    return rc;
}

int
inputs_next(struct inputs *ins, struct unit *u)
{
    int rc = turn_take(&ins->turn, u);

    if (rc != DT_OK) {
        return rc == DT_AGAIN ? DT_OK : rc; /* a unit instead of the turn */
    }
    do {
        rc = next_unit(ins, u);
    } while (rc == DT_OK && !u->is_slice && !u->is_last &&
             turn_hand_over(&ins->turn, u));
    turn_give(&ins->turn);
    return rc;
}

void
inputs_stop(struct inputs *ins)
{
    atomic_store(&ins->is_stopping, true);
    eventfd_write(ins->a.stop_fd, 1);
    pthread_mutex_lock(&ins->lock);
    for (size_t i = 0; i < ins->nr_all; i++) {
        atomic_store(&ins->all[i]->is_stopped, true);
    }
    pthread_mutex_unlock(&ins->lock);
}

void
inputs_interrupt(struct inputs *ins)
{
    eventfd_write(ins->a.stop_fd, 1); /* who reads waits for that */
    turn_interrupt(&ins->turn);
}

void
inputs_release(struct inputs *ins, struct unit *u)
{
    bool is_end;

    if (u->input) {
        pthread_mutex_lock(&ins->lock);
        is_end = --u->input->refs == 0;
        pthread_mutex_unlock(&ins->lock);
        if (is_end) {
            end_input(ins, u->input);
        }
        u->input = NULL;
    }
    if (u->mem.cap > 3 * INPUTS_SLICE) {
        buf_fini(&u->mem); /* one long line must not fatten the process */
    }
}

/* ---- small answers ---- */

int
inputs_lookup(struct inputs *ins, uint32_t id, struct dt_source *out)
{
    struct input *in = NULL;

    pthread_mutex_lock(&ins->lock);
    if (id >= 1 && id <= ins->nr_all) {
        in = ins->all[id - 1];
        if (in->is_random && ins->a.by_slices && !in->has_head) {
            input_read_head(in);
        }
    }
    pthread_mutex_unlock(&ins->lock);
    if (!in) {
        return DT_ERR_NOENT;
    }
    input_describe(in, out);
    out->host = ins->a.env->host;
    return DT_OK;
}

uint64_t
inputs_line_at(struct inputs *ins, uint32_t id, uint64_t offset)
{
    const struct input *in;

    pthread_mutex_lock(&ins->lock);
    in = id >= 1 && id <= ins->nr_all ? ins->all[id - 1] : NULL;
    pthread_mutex_unlock(&ins->lock);
    return in ? input_line_at(in, offset) : 0;
}

struct input *
inputs_add_followed(struct inputs *ins, const char *name, const char *path,
                    const char *first, size_t len)
{
    struct input *in = calloc(1, sizeof(*in));
    int rc = DT_ERR_NOMEM;

    if (!in) {
        return NULL;
    }
    pthread_mutex_init(&in->failure_lock, NULL);
    in->target.name = strdup(name);
    in->target.path = strdup(path);
    if (len) {
        input_keep_head(in, first, len);
    }
    if (in->target.name && in->target.path) {
        pthread_mutex_lock(&ins->lock);
        rc = list_input_locked(ins, in);
        ins->count.sources += rc == DT_OK;
        pthread_mutex_unlock(&ins->lock);
    }
    if (rc != DT_OK) {
        input_free(in);
        return NULL;
    }
    return in;
}

void
inputs_count_bytes(struct inputs *ins, size_t len)
{
    pthread_mutex_lock(&ins->lock);
    ins->count.bytes_read += len;
    pthread_mutex_unlock(&ins->lock);
}

bool
inputs_is_stopping(struct inputs *ins)
{
    return atomic_load(&ins->is_stopping);
}

int
inputs_stop_fd(const struct inputs *ins)
{
    return ins->a.stop_fd;
}

struct holding *
inputs_holding(struct inputs *ins)
{
    return &ins->holding;
}

void
inputs_counters(struct inputs *ins, struct query_end *end)
{
    pthread_mutex_lock(&ins->lock);
    end->bytes_read = ins->count.bytes_read;
    end->sources = ins->count.sources;
    end->failed = ins->count.failed;
    end->broken = ins->count.broken;
    pthread_mutex_unlock(&ins->lock);
}
