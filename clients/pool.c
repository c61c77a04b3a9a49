/* SPDX-License-Identifier: Apache-2.0
 *
 * All connections of a client, in one thread.
 */
#include "pool-state.h"

#include "clock.h"
#include "diag.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

void
pool_wake(int fd)
{
    uint64_t one = 1;

    (void)!write(fd, &one, sizeof(one));
}

/* ---- making ---- */

int
pool_new(const struct pool_args *args, struct pool **out, struct error *err)
{
    struct pool *p = calloc(1, sizeof(*p));
    size_t nr = args->servers->nr;

    if (!p) {
        return error_set(err, DT_ERR_NOMEM, "pool: out of memory");
    }
    p->args = *args;
    p->ask_at = p->wait_until = CLOCK_NEVER;
    pthread_mutex_init(&p->lock, NULL);
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->links = calloc(nr, sizeof(*p->links));
    p->ends = calloc(nr, sizeof(*p->ends));
    p->polls = calloc(nr + 1, sizeof(*p->polls));
    p->slots = calloc(nr, sizeof(*p->slots));
    p->queue = calloc(nr, sizeof(*p->queue));
    p->dropped = calloc(nr, sizeof(*p->dropped));
    p->asked = calloc(nr, sizeof(*p->asked));
    p->restarts = calloc(nr, sizeof(*p->restarts));
    p->more = calloc(nr, sizeof(*p->more));
    if (args->env.window) {
        p->args.env.scratch = malloc(args->env.window);
    }
    if (p->wake_fd < 0 || !p->links || !p->ends || !p->polls || !p->slots ||
        !p->queue || !p->dropped || !p->asked || !p->restarts || !p->more ||
        (args->env.window && !p->args.env.scratch)) {
        pool_free(p);
        return error_set(err, DT_ERR_NOMEM, "pool: out of memory");
    }
    p->args.env.wake_fd = p->wake_fd;
    p->args.env.has_told = &p->has_told;
    for (; p->nr < nr; p->nr++) {
        link_init(&p->links[p->nr], &p->args.env, &args->servers->v[p->nr],
                  routes_get(args->routes, p->nr), p->nr);
        p->queue[p->nr] = p->nr;
    }
    p->queue_len = nr;
    *out = p;
    return DT_OK;
}

int
pool_wake_fd(const struct pool *p)
{
    return p->wake_fd;
}

void
pool_free(struct pool *p)
{
    if (!p) {
        return;
    }
    pool_stop(p);
    for (size_t i = 0; i < p->nr; i++) {
        link_fini(&p->links[i]);
        if (p->restarts[i].request) {
            free(p->restarts[i].request);
            chunks_put(p->args.env.chunks, p->restarts[i].end);
        }
        free(p->more[i].request);
        if (p->ends[i]) {
            chunks_put(p->args.env.chunks, p->ends[i]);
        }
    }
    free(p->links);
    free(p->ends);
    free(p->polls);
    free(p->slots);
    free(p->queue);
    free(p->dropped);
    free(p->asked);
    free(p->restarts);
    free(p->more);
    free(p->args.env.scratch);
    if (p->wake_fd >= 0) {
        close(p->wake_fd);
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- one link ---- */

static bool
is_open(const struct link *l)
{
    return l->state != LINK_IDLE && l->state != LINK_ASKING &&
           l->state != LINK_OVER && l->state != LINK_PAUSED;
}

void
pool_enqueue(struct pool *p, size_t index)
{
    p->queue[(p->queue_at + p->queue_len++) % p->nr] = index;
}

void
pool_tell_end(struct pool *p, struct link *l)
{
    struct chunk *c = p->ends[l->index];

    if (c) {
        p->ends[l->index] = NULL;
        p->nr_over++;
        c->server = l->index;
        chunks_push(p->args.env.chunks, c);
    }
}

/* Steps a link and books what changed. True: it wants another turn. */
static bool
step(struct pool *p, struct link *l)
{
    bool was_open = is_open(l), was_establishing = link_is_establishing(l);
    bool more;

    l->is_unwanted = atomic_load(&p->dropped[l->index]);
    more = link_step(l);
    if (was_open && !is_open(l)) {
        atomic_fetch_sub(&p->nr_connected, 1);
    }
    if (was_establishing && !link_is_establishing(l)) {
        atomic_fetch_sub(&p->nr_establishing, 1);
    }
    if (l->state == LINK_OVER) {
        pool_tell_end(p, l);
    } else if (l->state == LINK_ASKING && p->ask_at == CLOCK_NEVER) {
        p->ask_at = clock_now_ms() + POOL_ASK_MS;
    }
    return more;
}

/* Ends a link that may be anything but over, and books it. */
static void
end_link(struct pool *p, struct link *l, const char *why)
{
    if (is_open(l)) {
        atomic_fetch_sub(&p->nr_connected, 1);
    }
    if (link_is_establishing(l)) {
        atomic_fetch_sub(&p->nr_establishing, 1);
    }
    link_end(l, why);
    pool_tell_end(p, l);
}

static void
start_links(struct pool *p)
{
    while (p->queue_len &&
           atomic_load(&p->nr_establishing) < p->args.max_establishing &&
           atomic_load(&p->nr_connected) < p->args.max_open) {
        struct link *l = &p->links[p->queue[p->queue_at]];

        p->queue_at = (p->queue_at + 1) % p->nr;
        p->queue_len--;
        if (l->state == LINK_OVER) { /* given up meanwhile */
            continue;
        }
        atomic_fetch_add(&p->nr_connected, 1);
        atomic_fetch_add(&p->nr_establishing, 1);
        link_start(l);
        if (l->state == LINK_OVER) {
            atomic_fetch_sub(&p->nr_connected, 1);
            atomic_fetch_sub(&p->nr_establishing, 1);
            pool_tell_end(p, l);
            continue;
        }
        step(p, l); /* an address needs no look-up */
    }
}

/* ---- further connections ---- */

int
pool_restart(struct pool *p, size_t server, char *request, size_t len,
             int64_t at)
{
    struct chunk *end = chunks_get_end(p->args.env.chunks);

    if (!end) {
        free(request);
        return DT_ERR_NOMEM;
    }
    pthread_mutex_lock(&p->lock);
    p->restarts[server] =
        (struct restart){.request = request, .end = end, .len = len, .at = at};
    pthread_mutex_unlock(&p->lock);
    pool_wake(p->wake_fd);
    return DT_OK;
}

/* Links that others want started again pause until it is time. */
static void
take_restarts(struct pool *p)
{
    for (size_t i = 0; i < p->nr; i++) {
        struct link *l = &p->links[i];
        struct restart r;

        pthread_mutex_lock(&p->lock);
        r = p->restarts[i];
        p->restarts[i].request = NULL;
        pthread_mutex_unlock(&p->lock);
        if (!r.request) {
            continue;
        }
        p->ends[i] = r.end;
        p->nr_over--;
        atomic_store(&p->dropped[i], false);
        link_pause(l, r.request, r.len, r.at);
    }
}

void
pool_send(struct pool *p, size_t server, char *request, size_t len)
{
    pthread_mutex_lock(&p->lock);
    free(p->more[server].request);
    p->more[server] = (struct more){request, len};
    pthread_mutex_unlock(&p->lock);
    pool_wake(p->wake_fd);
}

/* Hands on what links can send now; those want a turn. */
static void
take_more(struct pool *p, bool *busy)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->nr; i++) {
        if (p->more[i].request &&
            link_send(&p->links[i], p->more[i].request, p->more[i].len)) {
            p->more[i].request = NULL;
            busy[i] = true;
        }
    }
    pthread_mutex_unlock(&p->lock);
}

static void
end_pauses(struct pool *p)
{
    int64_t now = clock_now_ms();

    for (size_t i = 0; i < p->nr; i++) {
        if (p->links[i].state == LINK_PAUSED && now >= p->links[i].deadline) {
            p->links[i].state = LINK_IDLE;
            p->links[i].deadline = CLOCK_NEVER;
            pool_enqueue(p, i);
        }
    }
}

/* ---- the loop ---- */

/* Fills polls; returns the milliseconds to wait at most. */
static int
prepare_polls(struct pool *p, bool is_busy)
{
    int64_t next = p->ask_at < p->wait_until ? p->ask_at : p->wait_until;

    p->polls[0] = (struct pollfd){.fd = p->wake_fd, .events = POLLIN};
    p->nr_polls = 1;
    for (size_t i = 0; i < p->nr; i++) {
        struct link *l = &p->links[i];
        short events = 0;
        int fd = is_open(l) ? link_poll_fd(l, &events) : -1;

        p->slots[i] = 0;
        if (fd >= 0) {
            p->slots[i] = p->nr_polls;
            p->polls[p->nr_polls++] =
                (struct pollfd){.fd = fd, .events = events};
        }
        if (is_open(l) || l->state == LINK_PAUSED) {
            next = l->deadline < next ? l->deadline : next;
        }
    }
    return is_busy ? 0 : clock_poll_ms(next);
}

/* One round over all links; true: somebody wants another turn at once. busy:
 * who wanted one after the round before, and then after this one. */
static bool
take_turns(struct pool *p, bool *busy, bool is_woken)
{
    bool any = false;
    int64_t now = clock_now_ms();

    for (size_t i = 0; i < p->nr; i++) {
        struct link *l = &p->links[i];
        bool was_busy = busy[i];

        busy[i] = false;
        if (!is_open(l)) {
            continue;
        }
        /* A wake-up may be a name look-up, room in the queue, or a drop. */
        if ((p->slots[i] && p->polls[p->slots[i]].revents) || was_busy ||
            now >= l->deadline ||
            (is_woken && (l->is_stalled || l->state == LINK_CONNECTING ||
                          atomic_load(&p->dropped[i])))) {
            busy[i] = step(p, l);
            any |= busy[i];
        }
    }
    return any;
}

/* Nothing new is begun; what runs is asked for its result. */
static void
finish_links(struct pool *p, bool *busy)
{
    p->queue_len = 0;
    for (size_t i = 0; i < p->nr; i++) {
        struct link *l = &p->links[i];

        if (l->state == LINK_OVER || l->state == LINK_ENDING) {
            continue;
        }
        busy[i] = link_finish(l);
        if (!busy[i]) {
            end_link(p, l, NULL);
        }
    }
}

/* Has the server said anything, or is the user thinking about its key? */
static bool
is_answering(const struct link *l)
{
    return l->state == LINK_ASKING || l->state == LINK_ENDING ||
           l->state == LINK_OVER || (l->state == LINK_RUNNING && l->has_bytes);
}

/* --wait is over: goes on with those who have answered. */
static void
end_wait(struct pool *p)
{
    char why[64];

    if (clock_now_ms() < p->wait_until) {
        return;
    }
    p->wait_until = CLOCK_NEVER;
    snprintf(why, sizeof(why), "no answer within %d s (--wait)",
             p->args.wait_ms / 1000);
    for (size_t i = 0; i < p->nr; i++) {
        struct link *l = &p->links[i];

        if (is_answering(l)) {
            continue;
        }
        if (p->args.keeps_running) { /* it may come yet */
            log_warn(p->args.env.diag->log, "%s|%s, still trying",
                     l->server->text, why);
            continue;
        }
        end_link(p, l, why);
    }
}

static void
run(struct pool *p, bool *busy)
{
    bool is_busy = false;

    if (p->args.wait_ms) {
        p->wait_until = clock_now_ms() + p->args.wait_ms;
    }

    while (!atomic_load(&p->must_stop) &&
           (p->nr_over < p->nr || p->args.keeps_running)) {
        bool is_woken;
        uint64_t count;
        int timeout;

        end_pauses(p);
        end_wait(p);
        start_links(p);
        pool_open_question(p);
        timeout = prepare_polls(p, is_busy);
        poll(p->polls, p->nr_polls, timeout);
        is_woken = p->polls[0].revents != 0;
        if (is_woken) {
            (void)!read(p->wake_fd, &count, sizeof(count));
            pool_take_answer(p);
            take_restarts(p);
        }
        if (is_woken && atomic_load(&p->must_finish)) {
            finish_links(p, busy);
        }
        take_more(p, busy);
        is_busy = take_turns(p, busy, is_woken);
    }
}

static void *
pool_thread(void *arg)
{
    struct pool *p = arg;
    bool *busy = calloc(p->nr, sizeof(*busy));

    if (busy) {
        run(p, busy);
    }
    for (size_t i = 0; i < p->nr; i++) {
        if (p->links[i].state != LINK_OVER) {
            link_end(&p->links[i], busy ? NULL : "out of memory");
        }
        pool_tell_end(p, &p->links[i]);
    }
    atomic_store(&p->nr_connected, 0);
    atomic_store(&p->nr_establishing, 0);
    free(busy);
    return NULL;
}

int
pool_start(struct pool *p, struct chunks *chunks, struct error *err)
{
    int rc;

    p->args.env.chunks = chunks;
    for (size_t i = 0; i < p->nr; i++) {
        p->ends[i] = chunks_get_end(chunks);
        if (!p->ends[i]) {
            return error_set(err, DT_ERR_NOMEM, "pool: out of memory");
        }
    }
    rc = pthread_create(&p->thread, NULL, pool_thread, p);
    if (rc != 0) {
        return error_errno(err, rc, "pool");
    }
    p->is_started = true;
    return DT_OK;
}

void
pool_finish(struct pool *p)
{
    atomic_store(&p->must_finish, true);
    pool_wake(p->wake_fd);
}

void
pool_stop(struct pool *p)
{
    if (p->is_started) {
        atomic_store(&p->must_stop, true);
        pool_wake(p->wake_fd);
        pthread_join(p->thread, NULL);
        p->is_started = false;
    }
}

void
pool_drop(struct pool *p, size_t server)
{
    atomic_store(&p->dropped[server], true);
    pool_wake(p->wake_fd);
}

const struct link_result *
pool_result(const struct pool *p, size_t server)
{
    return &p->links[server].result;
}

struct pool_stats
pool_stats(const struct pool *p)
{
    return (struct pool_stats){
        .connected = atomic_load(&p->nr_connected),
        .establishing = atomic_load(&p->nr_establishing),
    };
}
