/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the user about unknown host keys.
 */
#include "trust.h"

#include "cleanup.h"
#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define MAX_NAMES 50 /* hosts that are named in a question */

struct trust {
    struct pool *pool;
    struct output *out;
    struct log *log;
    const char *tty;
    int fd; /* -1: no question is open */
};

int
trust_new(struct pool *pool, struct output *out, struct log *log,
          const char *tty, struct trust **t, struct error *err)
{
    *t = calloc(1, sizeof(**t));
    if (!*t) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    **t = (struct trust){
        .pool = pool, .out = out, .log = log, .tty = tty, .fd = -1};
    return DT_OK;
}

static void
close_question(struct trust *t)
{
    if (t->fd >= 0) {
        close(t->fd);
        t->fd = -1;
        output_release(t->out);
    }
}

void
trust_free(struct trust *t)
{
    if (t) {
        close_question(t);
        free(t);
    }
}

static void
say(struct trust *t, struct buf *text)
{
    log_touch(t->log);
    /* A terminal that is gone shows at the next read. */
    (void)!write(t->fd, text->data, text->len);
    buf_fini(text);
}

static void
ask(struct trust *t)
{
    const struct pool_host *hosts;
    size_t nr = pool_question(t->pool, &hosts);
    struct buf text = {0};

    buf_printf(&text, "Encountered %zu unknown hosts: '", nr);
    for (size_t i = 0; i < nr && i < MAX_NAMES; i++) {
        buf_printf(&text, "%s%s:%u", i ? "," : "", hosts[i].route->key_name,
                   hosts[i].route->port);
    }
    buf_printf(&text,
               "%s'\nDo you want to trust these hosts?? "
               "(y=yes,a=all,n=no,d=details): ",
               nr > MAX_NAMES ? ",…" : "");
    say(t, &text);
}

static void
details(struct trust *t)
{
    const struct pool_host *hosts;
    size_t nr = pool_question(t->pool, &hosts);
    struct buf text = {0};

    for (size_t i = 0; i < nr; i++) {
        const struct knownhosts_entry entry = {hosts[i].route->key_name,
                                               hosts[i].route->port,
                                               hosts[i].type, hosts[i].base64};

        buf_printf(&text, "%s:%u %s %s\n    ", hosts[i].route->key_name,
                   hosts[i].route->port, hosts[i].type, hosts[i].print);
        knownhosts_format(&entry, false, &text);
    }
    say(t, &text);
}

void
trust_look(struct trust *t)
{
    const struct pool_host *hosts;

    if (t->fd >= 0 || pool_question(t->pool, &hosts) == 0) {
        return;
    }
    t->fd = open(t->tty, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (t->fd >= 0 && isatty(t->fd) != 1) {
        close(t->fd);
        t->fd = -1;
    }
    if (t->fd < 0) {
        pool_answer(t->pool, POOL_NO_TERMINAL);
        return;
    }
    output_hold(t->out);
    ask(t);
}

int
trust_fd(const struct trust *t)
{
    return t->fd;
}

static bool
is_word(const char *line, size_t len, const char *word)
{
    return (len == 1 && line[0] == word[0]) ||
           (len == strlen(word) && memcmp(line, word, len) == 0);
}

void
trust_read(struct trust *t)
{
    char line[256];
    ssize_t got = read(t->fd, line, sizeof(line));
    const char *at = line;
    enum pool_answer answer;
    size_t len;

    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    len = got > 0 ? (size_t)got : 0;
    while (len && isspace((unsigned char)at[len - 1])) {
        len--;
    }
    while (len && isspace((unsigned char)*at)) {
        at++;
        len--;
    }
    if (got <= 0 || is_word(at, len, "no")) {
        answer = POOL_NO;
    } else if (is_word(at, len, "yes")) {
        answer = POOL_YES;
    } else if (is_word(at, len, "all")) {
        answer = POOL_ALL;
    } else {
        if (is_word(at, len, "details")) {
            details(t);
        }
        ask(t);
        return;
    }
    close_question(t);
    pool_answer(t->pool, answer);
}
