/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool's question about unknown host keys.
 */
#include "pool-state.h"

#include "clock.h"
#include "diag.h"
#include "newkeys.h"

void
pool_open_question(struct pool *p)
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
        pool_wake(p->args.event_fd);
    }
}

void
pool_take_answer(struct pool *p)
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

        if (l->state != LINK_ASKING) { /* ended meanwhile */
            continue;
        }
        if (answer == POOL_YES || answer == POOL_ALL) {
            pool_enqueue(p, index);
            continue;
        }
        link_key_unknown(l, answer == POOL_NO
                                ? ", and was not accepted"
                                : " and there is no terminal to ask at: "
                                  "--trustAllHosts accepts and stores it");
        pool_tell_end(p, l);
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
    pool_wake(p->wake_fd);
}
