/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands from a terminal while a session runs.
 */
#include "interactive.h"

#include "escape.h"
#include "reload.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_LINE (1u << 20) /* bytes of a command */
#define GREETING                                                            \
    "Interactive query control enabled. Commands: :reload <flags>, :show, " \
    ":help, :quit\n"
#define HELP                                                              \
    "Commands: :reload <flags>, :show, :help, :quit. Flags are split at " \
    "blanks; '…', \"…\" and \\ keep them together\n"

struct interactive {
    struct reload first;    /* of the command line; owns nothing */
    struct reload *present; /* what runs */
    struct reload *next;    /* what is to run; NULL: no reload is under way */
    struct reload *refused; /* those that did not get to run, until the end */
    const struct interactive_ops *ops;
    void *ctx;
    int fd;
    uint32_t last_id; /* of a query */
    struct buf in;    /* bytes of commands */
};

static void
say(struct interactive *i, const char *format, ...)
{
    struct buf shown = {0};
    char line[ERROR_TEXT_MAX + 64];
    va_list ap;

    va_start(ap, format);
    vsnprintf(line, sizeof(line), format, ap);
    va_end(ap);
    /* a server's words may be in it */
    if (escape_append(&shown, line, strlen(line), true) == DT_OK) {
        log_touch(i->first.client.diag.log);
        (void)!write(i->fd, shown.data, shown.len);
    }
    buf_fini(&shown);
}

int
interactive_new(const struct client *c, const struct interactive_ops *ops,
                void *ctx, struct interactive **out, struct error *err)
{
    struct interactive *i = calloc(1, sizeof(*i));

    if (!i) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    i->fd = open(c->flags->control_tty, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (i->fd < 0) {
        int saved = errno;

        free(i);
        error_errno(err, saved, "control terminal %s", c->flags->control_tty);
        return err->status = DT_ERR_IO;
    }
    i->first.client = *c;
    i->present = &i->first;
    i->ops = ops;
    i->ctx = ctx;
    i->last_id = c->queries[0].id;
    *out = i;
    say(i, GREETING);
    return DT_OK;
}

void
interactive_free(struct interactive *i)
{
    struct reload *r;

    if (!i) {
        return;
    }
    if (i->next) {
        i->next->before = NULL;
        reload_free(i->next);
    }
    reload_free(i->refused);
    while ((r = i->present) != &i->first) {
        i->present = r->before;
        r->before = NULL;
        reload_free(r);
    }
    buf_fini(&i->in);
    close(i->fd);
    free(i);
}

int
interactive_fd(const struct interactive *i)
{
    return i && !i->next ? i->fd : -1;
}

struct spans *
interactive_spans(const struct interactive *i)
{
    return i->present->client.spans;
}

struct query_spec *
interactive_again(struct interactive *i)
{
    struct query_spec *q = &i->present->client.queries[0];

    q->id = ++i->last_id;
    return q;
}

void
interactive_answer(struct interactive *i, const char *failure)
{
    if (!i->next) {
        return;
    }
    if (failure) {
        i->next->before = i->refused;
        i->refused = i->next;
        say(i, "reload failed: %s\n", failure);
    } else {
        i->present = i->next;
        say(i, "reload applied successfully\n");
    }
    i->next = NULL;
}

/* ---- commands ---- */

static void
reload(struct interactive *i, const char *flags)
{
    struct error err = ERROR_INIT;

    if (reload_new(i->present, flags, i->last_id + 1, &i->next, &err) !=
        DT_OK) {
        say(i, "interactive query error: %s\n", err.text);
        return;
    }
    i->last_id++;
    if (i->ops->reload(i->ctx, &i->next->client, &err) != DT_OK) {
        interactive_answer(i, err.text);
    }
}

static int
add_quoted(struct buf *out, const char *name, const char *text, size_t len)
{
    int rc = buf_printf(out, "%s=\"", name);

    for (size_t i = 0; rc == DT_OK && i < len; i++) {
        if (text[i] == '"' || text[i] == '\\') {
            rc = buf_puts(out, "\\");
        }
        if (rc == DT_OK) {
            rc = escape_append(out, text + i, 1, false);
        }
    }
    return rc == DT_OK ? buf_puts(out, "\" ") : rc;
}

static const struct request_arg *
argument(const struct query_spec *q, const char *name)
{
    for (size_t a = 0; a < q->nr_args; a++) {
        if (strcmp(q->args[a].name, name) == 0) {
            return &q->args[a];
        }
    }
    return NULL;
}

static int
add_options(struct buf *out, const struct query_spec *q)
{
    static const char *const names[] = {"after", "before", "max"};
    struct buf list = {0};
    int rc = DT_OK;

    for (size_t n = 0; rc == DT_OK && n < 3; n++) {
        const struct request_arg *a = argument(q, names[n]);

        if (a) {
            rc = buf_printf(&list, "%s%s=%s", list.len ? ":" : "", names[n],
                            a->value);
        }
    }
    if (rc == DT_OK && argument(q, "invert")) {
        rc = buf_printf(&list, "%sinvert=true", list.len ? ":" : "");
    }
    if (rc == DT_OK) {
        rc = add_quoted(out, "options", list.data ? list.data : "", list.len);
    }
    buf_fini(&list);
    return rc;
}

static void
show(struct interactive *i)
{
    const struct client *c = &i->present->client;
    const struct query_spec *q = &c->queries[0];
    const struct request_arg *regex = argument(q, "regex");
    const char *query = c->query_text ? c->query_text : "";
    struct buf line = {0};
    size_t can, all;
    int rc = buf_printf(&line, "mode=%s files=", q->plugin);

    i->ops->capable(i->ctx, &can, &all);
    for (size_t n = 0; rc == DT_OK && n < q->files.nr; n++) {
        rc = buf_printf(&line, "%s%s", n ? "," : "", q->files.v[n]);
    }
    if (rc == DT_OK && (rc = buf_puts(&line, " ")) == DT_OK &&
        (rc = add_quoted(&line, "query", query, strlen(query))) == DT_OK &&
        (rc = add_quoted(&line, "regex", regex ? regex->value : "",
                         regex ? regex->value_len : 0)) == DT_OK &&
        (rc = add_options(&line, q)) == DT_OK) {
        rc = buf_printf(&line, "timeout=%lld capable=%zu/%zu\n",
                        (long long)(q->timeout_ms / 1000), can, all);
    }
    if (rc == DT_OK) {
        log_touch(c->diag.log);
        (void)!write(i->fd, line.data, line.len);
    }
    buf_fini(&line);
}

/* True: the user wants to leave. */
static bool
obey(struct interactive *i, char *line)
{
    size_t len = strlen(line);

    while (len && isspace((unsigned char)line[len - 1])) {
        line[--len] = '\0';
    }
    line += strspn(line, " \t\r");
    if (!*line) {
        return false;
    }
    if (strcmp(line, ":quit") == 0) {
        say(i, "quitting interactive session\n");
        return true;
    }
    if (strcmp(line, ":help") == 0) {
        say(i, HELP);
    } else if (strcmp(line, ":show") == 0) {
        show(i);
    } else if (strncmp(line, ":reload", 7) == 0 &&
               (!line[7] || isspace((unsigned char)line[7]))) {
        reload(i, line + 7);
    } else {
        say(i, "interactive query error: unknown command \"%.100s\"\n", line);
    }
    return false;
}

/* Commands whose lines are whole, until one has to be waited for. */
static bool
obey_all(struct interactive *i)
{
    bool leave = false;
    char *nl;

    while (!leave && !i->next && i->in.len &&
           (nl = memchr(i->in.data, '\n', i->in.len)) != NULL) {
        size_t len = (size_t)(nl - i->in.data) + 1;

        *nl = '\0';
        leave = obey(i, i->in.data);
        buf_consume(&i->in, len);
    }
    return leave;
}

bool
interactive_read(struct interactive *i)
{
    struct pollfd p = {.fd = i->fd, .events = POLLIN};
    ssize_t got;

    if (obey_all(i)) {
        return true;
    }
    if (i->next || poll(&p, 1, 0) <= 0) {
        return false;
    }
    if (buf_reserve(&i->in, 4096) != DT_OK) {
        return true;
    }
    got = read(i->fd, i->in.data + i->in.len, 4096);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return false;
    }
    if (got <= 0) {
        return true; /* the end of the terminal's input */
    }
    i->in.len += (size_t)got;
    if (i->in.len > MAX_LINE && !memchr(i->in.data, '\n', i->in.len)) {
        i->in.len = 0;
        say(i, "interactive query error: a command has at most %u bytes\n",
            MAX_LINE);
    }
    return obey_all(i);
}
