/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the reading of a query has come.
 *
 * The size of what is still to be opened is looked up once, by whoever finds
 * the first frame due: a short query pays nothing for it. Only files that the
 * user may read count, so that a sum tells nothing of others.
 */
#include "progress.h"

#include "source-open.h"
#include "source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct progress {
    const struct query_env *env;
    const struct cancel *cancel;
    uint32_t query;
    const struct source_targets *targets; /* NULL: none */
    _Atomic int64_t next_ms;              /* when a frame is due */
    _Atomic uint64_t done;                /* bytes */
    _Atomic uint64_t known;
    _Atomic bool has_endless; /* a source without size: the sum is not known */
    pthread_mutex_t lock;
    size_t looked_up; /* under the lock: sizes of the targets before count */
};

struct progress *
progress_new(const struct query_env *env, uint32_t query,
             const struct cancel *cancel, int64_t now_ms)
{
    struct progress *p = calloc(1, sizeof(*p));

    if (p) {
        p->env = env;
        p->cancel = cancel;
        p->query = query;
        p->next_ms = now_ms + PROGRESS_FIRST_MS;
        pthread_mutex_init(&p->lock, NULL);
    }
    return p;
}

void
progress_free(struct progress *p)
{
    if (p) {
        pthread_mutex_destroy(&p->lock);
        free(p);
    }
}

void
progress_expect(struct progress *p, const struct source_targets *targets)
{
    p->targets = targets;
}

static void
add_size(struct progress *p, uint64_t size, bool is_endless)
{
    atomic_fetch_add(&p->known, size);
    if (is_endless) {
        atomic_store(&p->has_endless, true);
    }
}

void
progress_begin(struct progress *p, size_t index, uint64_t size, bool is_endless)
{
    bool counts;

    pthread_mutex_lock(&p->lock);
    counts = index >= p->looked_up;
    if (counts) {
        p->looked_up = index + 1;
    }
    pthread_mutex_unlock(&p->lock);
    if (counts) {
        add_size(p, size, is_endless);
    }
}

void
progress_add(struct progress *p, uint64_t bytes)
{
    atomic_fetch_add_explicit(&p->done, bytes, memory_order_relaxed);
}

void
progress_end(struct progress *p, uint64_t size, uint64_t counted, uint64_t read)
{
    /* modulo 2^64, which both differences may go below */
    atomic_fetch_add(&p->done, read - counted);
    atomic_fetch_add(&p->known, read - size);
}

/* The next target whose size is not known yet; NULL: there is none. */
static const struct source_target *
next_unknown(struct progress *p)
{
    const struct source_target *t = NULL;

    pthread_mutex_lock(&p->lock);
    if (p->targets && p->looked_up < p->targets->nr) {
        t = &p->targets->v[p->looked_up++];
    }
    pthread_mutex_unlock(&p->lock);
    return t;
}

static void
look_up_sizes(struct progress *p)
{
    const struct source_target *t;

    while (!cancel_is_set(p->cancel) && (t = next_unknown(p)) != NULL) {
        bool is_endless = true;
        uint64_t size = 0;

        if (!t->is_stdin &&
            strncmp(t->path, SOURCE_JOURNAL, sizeof(SOURCE_JOURNAL) - 1) != 0) {
            size = source_measure(t->path, p->env->permission, &is_endless);
        }
        add_size(p, size, is_endless);
    }
}

void
progress_tick(struct progress *p, int64_t now_ms)
{
    int64_t due = atomic_load_explicit(&p->next_ms, memory_order_relaxed);
    struct wire_frame f = {
        .type = WIRE_S_PROGRESS, .query = p->query, .data = ""};

    if (now_ms < due || !atomic_compare_exchange_strong(
                            &p->next_ms, &due, now_ms + PROGRESS_EVERY_MS)) {
        return;
    }
    look_up_sizes(p);
    f.offset = atomic_load(&p->done);
    if (!atomic_load(&p->has_endless)) {
        uint64_t known = atomic_load(&p->known);

        f.first_line = known > f.offset ? known : f.offset; /* it grew */
    }
    /* what goes wrong here shows where data are written */
    (void)outq_push(p->env->out, &f, p->cancel);
}
