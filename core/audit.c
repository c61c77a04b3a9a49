/* SPDX-License-Identifier: Apache-2.0
 *
 * Who reads what: the queries of a session and the lines about them.
 *
 * A line has the layout of the statistics, so that dmap can query it:
 * dmap --query 'from AUDIT select user,sum(bytes) group by user'.
 */
#include "audit.h"
#include "stats.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LIVE_BYTES (AUDIT_LIVE_ROWS * sizeof(struct query_live))
/* Bytes of a name or message in a line, each up to four as it is escaped. */
#define MAX_FIELD 260u

int
audit_share(struct audit *a)
{
    void *mem = mmap(NULL, LIVE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (mem == MAP_FAILED) {
        return DT_ERR_NOMEM;
    }
    a->live = mem;
    return DT_OK;
}

void
audit_shared(struct audit *a)
{
    madvise(a->live, LIVE_BYTES, MADV_DONTFORK);
}

size_t
audit_escape(char *out, size_t cap, const char *text, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_plain =
            c >= 0x20 && c != 0x7f && c != '|' && c != ',' && c != '\\';

        if (at + (is_plain ? 1 : 4) >= cap) {
            break;
        }
        if (is_plain) {
            out[at++] = (char)c;
            continue;
        }
        out[at++] = '\\';
        out[at++] = 'x';
        out[at++] = hex[c >> 4];
        out[at++] = hex[c & 15];
    }
    if (cap) {
        out[at] = '\0';
    }
    return at;
}

/* ---- sums ---- */

static struct audit_plugin *
sums_of(struct audit_totals *t, const char *name)
{
    size_t i = 0;

    while (i < t->nr_plugins && strcmp(t->plugins[i].name, name) != 0) {
        i++;
    }
    if (i == t->nr_plugins && i < AUDIT_MAX_PLUGINS) {
        strcpy(t->plugins[i].name, name);
        t->nr_plugins++;
    } else if (i == t->nr_plugins) {
        strcpy(t->plugins[i].name, "other"); /* the one place more */
    }
    return &t->plugins[i];
}

static void
add(struct audit_totals *t, const struct audit_query *q, int status,
    const struct audit_counts *c)
{
    struct audit_plugin *p = sums_of(t, q->plugin);

    t->nr_running--;
    p->nr_running--;
    if (status == DT_OK) {
        p->nr_good++;
    } else {
        p->nr_failed++;
    }
    t->counts.bytes_read += c->bytes_read;
    t->counts.bytes_sent += c->bytes_sent;
    t->counts.lines_sent += c->lines_sent;
    t->nr_sources += c->sources;
    t->nr_failed_sources += c->failed;
}

/* ---- lines ---- */

static void
write_line(struct log *log, const struct audit_who *who,
           const struct audit_query *q, int status, const char *message,
           const struct audit_counts *c, int64_t now_ms)
{
    char head[STATS_MAX_HEAD], job[MAX_FIELD], text[4 * MAX_FIELD];
    int64_t ms = now_ms > q->began_ms ? now_ms - q->began_ms : 0;

    if (!log_wants(log, LOG_INFO)) {
        return;
    }
    stats_head(head, sizeof(head), "AUDIT", __FILE_NAME__, __LINE__, 0);
    audit_escape(job, sizeof(job), who->job ? who->job : "",
                 who->job ? strlen(who->job) : 0);
    audit_escape(text, sizeof(text), message, strlen(message));
    log_info(log,
             "%s|user=%s|peer=%s|job=%s|plugin=%s|mode=%s|follow=%s|"
             "files=%s|asked=%" PRId64 "|read=%" PRIu32 "|failed=%" PRIu32
             "|status=%d|bytes=%" PRIu64 "|bytesSent=%" PRIu64 "|lines=%" PRIu64
             "|duration=%" PRId64 ".%03d|message=%s",
             head, who->user, who->peer, job, q->plugin,
             q->turbo ? "turbo" : "normal", q->follow ? "yes" : "no", q->files,
             q->nr_files, c->sources, c->failed, status, c->bytes_read,
             c->bytes_sent, c->lines_sent, ms / 1000, (int)(ms % 1000), text);
}

/* ---- what workers tell ---- */

static struct audit_query **
find(struct audit *a, uint32_t id)
{
    struct audit_query **at = &a->running;

    while (*at && (*at)->id != id) {
        at = &(*at)->next;
    }
    return at;
}

int
audit_begin(struct audit *a, struct audit_totals *totals,
            const struct broker_msg *msg, bool is_known_plugin, int64_t now_ms)
{
    size_t len =
        msg->key_len < AUDIT_MAX_FILES ? msg->key_len : AUDIT_MAX_FILES;
    struct audit_query *q;

    if (a->nr >= AUDIT_MAX_QUERIES) {
        return DT_ERR_LIMIT;
    }
    if (*find(a, msg->id) || msg->value < 0) {
        return DT_ERR_PROTO;
    }
    q = calloc(1, sizeof(*q) + AUDIT_MAX_FILES + 1);
    if (!q) {
        return DT_ERR_NOMEM;
    }
    *q = (struct audit_query){.next = a->running,
                              .id = msg->id,
                              .turbo = (msg->flags & 2) != 0,
                              .follow = (msg->flags & 1) != 0,
                              .row = msg->status,
                              .nr_files = msg->value,
                              .began_ms = now_ms};
    if (q->row < 0 || q->row >= (int)AUDIT_LIVE_ROWS || !a->live) {
        q->row = AUDIT_NO_ROW;
    }
    /* a name that is not one of ours may be anything */
    strcpy(q->plugin, is_known_plugin ? msg->user : "other");
    memcpy(q->files, msg->key, len);
    a->running = q;
    a->nr++;
    totals->nr_running++;
    sums_of(totals, q->plugin)->nr_running++;
    return DT_OK;
}

static void
drop(struct audit *a, struct audit_query **at)
{
    struct audit_query *q = *at;

    *at = q->next;
    a->nr--;
    free(q);
}

int
audit_end(struct audit *a, struct audit_totals *totals, struct log *log,
          const struct audit_who *who, const struct broker_msg *msg,
          int64_t now_ms)
{
    struct audit_query **at = find(a, msg->id);
    struct audit_counts c;

    if (!*at || msg->key_len != sizeof(c)) {
        return DT_ERR_PROTO;
    }
    memcpy(&c, msg->key, sizeof(c));
    write_line(log, who, *at, msg->status, msg->text, &c, now_ms);
    add(totals, *at, msg->status, &c);
    drop(a, at);
    return DT_OK;
}

struct audit_counts
audit_so_far(const struct audit *a, const struct audit_query *q)
{
    struct audit_counts c = {0};

    if (q->row != AUDIT_NO_ROW) {
        const struct query_live *live = &a->live[q->row];

        c.bytes_read = atomic_load(&live->bytes_read);
        c.bytes_sent = atomic_load(&live->bytes_sent);
        c.lines_sent = atomic_load(&live->lines_sent);
    }
    return c;
}

void
audit_abandon(struct audit *a, struct audit_totals *totals, struct log *log,
              const struct audit_who *who, const char *why, int64_t now_ms)
{
    while (a->running) {
        const struct audit_counts c = audit_so_far(a, a->running);

        write_line(log, who, a->running, DT_ERR_CANCELLED, why, &c, now_ms);
        add(totals, a->running, DT_ERR_CANCELLED, &c);
        drop(a, &a->running);
    }
}

void
audit_fini(struct audit *a)
{
    while (a->running) {
        drop(a, &a->running);
    }
    if (a->live) {
        munmap(a->live, LIVE_BYTES);
        a->live = NULL;
    }
}
