/* SPDX-License-Identifier: Apache-2.0
 *
 * All connections of a client, in one thread.
 */
#include "pool.h"

#include "clock.h"
#include "diag.h"
#include "newkeys.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A question waits for further unknown hosts, but not longer than this for
 * servers that are slow to answer. */
#define ASK_MS 5000

/* A server to which another connection is to be made. */
struct restart {
    char *request;     /* NULL: none */
    struct chunk *end; /* what will tell of its end */
    size_t len;
    int64_t at;
};

struct pool {
    struct pool_args args;
    struct link *links;
    struct chunk **ends; /* by server: made beforehand, so that telling of an
                            end cannot fail */
    size_t nr;
    struct pollfd *polls;
    size_t *queue; /* links that are to be started: a ring of nr */
    size_t queue_at, queue_len;
    size_t nr_over;
    int wake_fd;
    bool has_told; /* that host keys were stored */
    pthread_t thread;
    bool is_started;
    atomic_bool must_stop;
    atomic_bool must_finish;
    atomic_bool *dropped; /* by server */
    atomic_size_t nr_connected, nr_establishing;
    /* The question; the lock covers what both threads touch. */
    pthread_mutex_t lock;
    struct restart *restarts; /* by server */
    int64_t ask_at;           /* clock_now_ms; CLOCK_NEVER: nobody is unknown */
    struct pool_host *asked;
    size_t nr_asked; /* 0: no question is open */
    int answer;      /* enum pool_answer; 0: none yet */
};

static void
wake(int fd)
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
    p->ask_at = CLOCK_NEVER;
    pthread_mutex_init(&p->lock, NULL);
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->links = calloc(nr, sizeof(*p->links));
    p->ends = calloc(nr, sizeof(*p->ends));
    p->polls = calloc(nr + 1, sizeof(*p->polls));
    p->queue = calloc(nr, sizeof(*p->queue));
    p->dropped = calloc(nr, sizeof(*p->dropped));
    p->asked = calloc(nr, sizeof(*p->asked));
    p->restarts = calloc(nr, sizeof(*p->restarts));
    if (args->env.window) {
        p->args.env.scratch = malloc(args->env.window);
    }
    if (p->wake_fd < 0 || !p->links || !p->ends || !p->polls || !p->queue ||
        !p->dropped || !p->asked || !p->restarts ||
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
        if (p->ends[i]) {
            chunks_put(p->args.env.chunks, p->ends[i]);
        }
    }
    free(p->links);
    free(p->ends);
    free(p->polls);
    free(p->queue);
    free(p->dropped);
    free(p->asked);
    free(p->restarts);
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

static void
enqueue(struct pool *p, size_t index)
{
    p->queue[(p->queue_at + p->queue_len++) % p->nr] = index;
}

/* A link that has come to its end is told, once. */
static void
tell_end(struct pool *p, struct link *l)
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
        tell_end(p, l);
    } else if (l->state == LINK_ASKING && p->ask_at == CLOCK_NEVER) {
        p->ask_at = clock_now_ms() + ASK_MS;
    }
    return more;
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
        atomic_fetch_add(&p->nr_connected, 1);
        atomic_fetch_add(&p->nr_establishing, 1);
        link_start(l);
        if (l->state == LINK_OVER) {
            atomic_fetch_sub(&p->nr_connected, 1);
            atomic_fetch_sub(&p->nr_establishing, 1);
            tell_end(p, l);
            continue;
        }
        step(p, l); /* an address needs no look-up */
    }
}

/* ---- unknown host keys ---- */

/* Opens the question when no other host can join it soon. */
static void
open_question(struct pool *p)
{
    size_t nr = 0;

    if (p->ask_at == CLOCK_NEVER ||
        ((atomic_load(&p->nr_establishing) || p->queue_len) &&
         clock_now_ms() < p->ask_at)) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    if (p->nr_asked == 0) {
        for (size_t i = 0; i < p->nr; i++) {
            const struct link *l = &p->links[i];

            if (l->state == LINK_ASKING) {
                p->asked[nr++] =
                    (struct pool_host){l->server, l->route, l->key_type,
                                       l->key_base64, l->key_print};
            }
        }
        p->nr_asked = nr;
        p->ask_at = CLOCK_NEVER;
    }
    pthread_mutex_unlock(&p->lock);
    if (nr) {
        wake(p->args.event_fd);
    }
}

/* What the user said about the hosts of the question. */
static void
take_answer(struct pool *p)
{
    enum pool_answer answer;

    pthread_mutex_lock(&p->lock);
    answer = (enum pool_answer)p->answer;
    p->answer = 0;
    pthread_mutex_unlock(&p->lock);
    if (answer == 0) {
        return;
    }
    if (answer == POOL_YES || answer == POOL_ALL) {
        p->args.env.trust_all |= answer == POOL_ALL;
        newkeys_store(p->asked, p->nr_asked, p->args.env.diag);
    } else if (answer == POOL_NO) {
        log_info(p->args.env.diag->log,
                 "Didn't add hosts to known hosts file|%s",
                 p->asked[0].route->hosts_path);
    }
    for (size_t i = 0; i < p->nr_asked; i++) {
        size_t index = (size_t)(p->asked[i].server - p->args.servers->v);
        struct link *l = &p->links[index];

        if (answer == POOL_YES || answer == POOL_ALL) {
            enqueue(p, index);
            continue;
        }
        link_key_unknown(l, answer == POOL_NO
                                ? ", and was not accepted"
                                : " and there is no terminal to ask at: "
                                  "--trustAllHosts accepts and stores it");
        tell_end(p, l);
    }
    pthread_mutex_lock(&p->lock);
    p->nr_asked = 0;
    pthread_mutex_unlock(&p->lock);
    /* Hosts that turned up meanwhile are the next question. */
    for (size_t i = 0; i < p->nr && p->ask_at == CLOCK_NEVER; i++) {
        if (p->links[i].state == LINK_ASKING &&
            (answer == POOL_NO || answer == POOL_NO_TERMINAL)) {
            p->ask_at = clock_now_ms();
        }
    }
}

size_t
pool_question(struct pool *p, const struct pool_host **out)
{
    size_t nr;

    pthread_mutex_lock(&p->lock);
    nr = p->answer ? 0 : p->nr_asked;
    *out = p->asked;
    pthread_mutex_unlock(&p->lock);
    return nr;
}

void
pool_answer(struct pool *p, enum pool_answer answer)
{
    pthread_mutex_lock(&p->lock);
    p->answer = answer;
    pthread_mutex_unlock(&p->lock);
    wake(p->wake_fd);
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
    wake(p->wake_fd);
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

static void
end_pauses(struct pool *p)
{
    int64_t now = clock_now_ms();

    for (size_t i = 0; i < p->nr; i++) {
        if (p->links[i].state == LINK_PAUSED && now >= p->links[i].deadline) {
            p->links[i].state = LINK_IDLE;
            p->links[i].deadline = CLOCK_NEVER;
            enqueue(p, i);
        }
    }
}

/* ---- the loop ---- */

/* Fills polls; returns the milliseconds to wait at most. */
static int
prepare_polls(struct pool *p, bool is_busy)
{
    int64_t next = p->ask_at;

    p->polls[0] = (struct pollfd){.fd = p->wake_fd, .events = POLLIN};
    for (size_t i = 0; i < p->nr; i++) {
        struct link *l = &p->links[i];
        short events = 0;

        p->polls[i + 1].fd = -1;
        p->polls[i + 1].revents = 0;
        if (is_open(l)) {
            p->polls[i + 1].fd = link_poll_fd(l, &events);
            p->polls[i + 1].events = events;
            next = l->deadline < next ? l->deadline : next;
        } else if (l->state == LINK_PAUSED) {
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
        if (p->polls[i + 1].revents || was_busy || now >= l->deadline ||
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
            link_end(l, NULL);
            tell_end(p, l);
        }
    }
}

static void
run(struct pool *p, bool *busy)
{
    bool is_busy = false;

    while (!atomic_load(&p->must_stop) &&
           (p->nr_over < p->nr || p->args.keeps_running)) {
        bool is_woken;
        uint64_t count;

        end_pauses(p);
        start_links(p);
        open_question(p);
        poll(p->polls, p->nr + 1, prepare_polls(p, is_busy));
        is_woken = p->polls[0].revents != 0;
        if (is_woken) {
            (void)!read(p->wake_fd, &count, sizeof(count));
            take_answer(p);
            take_restarts(p);
        }
        if (is_woken && atomic_load(&p->must_finish)) {
            finish_links(p, busy);
        }
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
        tell_end(p, &p->links[i]);
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
    wake(p->wake_fd);
}

void
pool_stop(struct pool *p)
{
    if (p->is_started) {
        atomic_store(&p->must_stop, true);
        wake(p->wake_fd);
        pthread_join(p->thread, NULL);
        p->is_started = false;
    }
}

void
pool_drop(struct pool *p, size_t server)
{
    atomic_store(&p->dropped[server], true);
    wake(p->wake_fd);
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
