/* SPDX-License-Identifier: Apache-2.0
 *
 * The server's numbers for Prometheus
 * (prometheus.io/docs/instrumenting/exposition_formats).
 */
#include "metrics.h"
#include "clock.h"

#include <inttypes.h>
#include <string.h>

#define GET "GET /metrics"

/* ---- numbers ---- */

static int
put_head(struct buf *out, const char *name, const char *type, const char *help)
{
    return buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
                      type);
}

/* A name without labels. */
static int
put_one(struct buf *out, const char *name, const char *type, const char *help,
        uint64_t value)
{
    int st = put_head(out, name, type, help);

    return st == DT_OK ? buf_printf(out, "%s %" PRIu64 "\n", name, value) : st;
}

/* Names of plugins are letters, digits and dashes: nothing to escape. */
static int
put_queries(struct buf *out, const struct audit_totals *t)
{
    size_t nr = t->nr_plugins;
    int st =
        put_head(out, "dtail_queries_running", "gauge", "Queries that run.");

    if (*t->plugins[AUDIT_MAX_PLUGINS].name) {
        nr = AUDIT_MAX_PLUGINS + 1;
    }
    for (size_t i = 0; i < nr && st == DT_OK; i++) {
        st = buf_printf(out, "dtail_queries_running{plugin=\"%s\"} %zu\n",
                        t->plugins[i].name, t->plugins[i].nr_running);
    }
    if (st == DT_OK) {
        st = put_head(out, "dtail_queries_total", "counter",
                      "Queries that ended.");
    }
    for (size_t i = 0; i < nr && st == DT_OK; i++) {
        st = buf_printf(out,
                        "dtail_queries_total{plugin=\"%s\",result=\"ok\"} "
                        "%" PRIu64 "\n"
                        "dtail_queries_total{plugin=\"%s\","
                        "result=\"failed\"} %" PRIu64 "\n",
                        t->plugins[i].name, t->plugins[i].nr_good,
                        t->plugins[i].name, t->plugins[i].nr_failed);
    }
    return st;
}

static int
put_slots(struct buf *out, const struct slots_table *s)
{
    static const char *const pools[] = {
        [SLOTS_CAT] = "cats", [SLOTS_TAIL] = "tails"};
    int st =
        put_head(out, "dtail_slots", "gauge", "Read slots by pool and state.");

    for (int i = 0; i < SLOTS_NR_POOLS && st == DT_OK; i++) {
        st = buf_printf(out,
                        "dtail_slots{pool=\"%s\",state=\"used\"} %d\n"
                        "dtail_slots{pool=\"%s\",state=\"limit\"} %d\n"
                        "dtail_slots{pool=\"%s\",state=\"waiting\"} %zu\n",
                        pools[i], s->used[i], pools[i], s->limit[i], pools[i],
                        slots_waiting(s, (enum slots_pool)i));
    }
    return st;
}

static int
put_connections(struct buf *out, const struct sight_view *v)
{
    const struct stats_counts counts = sight_count(v);
    int st =
        put_head(out, "dtail_connections", "gauge", "Connections by state.");

    if (st == DT_OK) {
        st = buf_printf(out,
                        "dtail_connections{state=\"user\"} %zu\n"
                        "dtail_connections{state=\"health\"} %zu\n"
                        "dtail_connections{state=\"pre_auth\"} %zu\n",
                        v->shared->nr_users, v->shared->nr_health,
                        counts.pre_auth);
    }
    if (st == DT_OK) {
        st = put_one(out, "dtail_connections_max", "gauge",
                     "Server.MaxConnections.",
                     (uint64_t)v->shared->config->server.max_connections);
    }
    return st == DT_OK ? put_one(out, "dtail_logins_total", "counter",
                                 "Log-ins since the start.", counts.lifetime)
                       : st;
}

static int
put_jobs(struct buf *out, const struct jobs *jobs)
{
    const struct jobs_now now = {.ms = clock_now_ms(), .wall = time(NULL)};
    uint64_t results = 0, failed = 0;
    struct jobs_row row;
    int st;

    for (size_t i = 0; jobs && i < jobs_count(jobs); i++) {
        jobs_row_at(jobs, i, &now, &row);
        results += row.nr_results;
        failed += row.nr_failed;
    }
    st = put_one(out, "dtail_jobs_running", "gauge", "Jobs that run.",
                 jobs ? jobs_nr_running(jobs) : 0);
    if (st == DT_OK) {
        st = put_one(out, "dtail_job_results_total", "counter",
                     "Results that jobs have written.", results);
    }
    return st == DT_OK ? put_one(out, "dtail_job_failures_total", "counter",
                                 "Runs of jobs that failed.", failed)
                       : st;
}

static int
put_sums(struct buf *out, const struct audit_totals *t)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } sums[] = {
        {"dtail_read_bytes_total", "Bytes of files that ended queries read.",
         t->counts.bytes_read},
        {"dtail_sent_bytes_total", "Bytes of results of ended queries.",
         t->counts.bytes_sent},
        {"dtail_sent_lines_total", "Lines of results of ended queries.",
         t->counts.lines_sent},
        {"dtail_files_read_total", "Files that ended queries read.",
         t->nr_sources},
        {"dtail_files_failed_total", "Files refused, missing or broken off.",
         t->nr_failed_sources},
        {"dtail_workers_crashed_total", "Workers that failed or died.",
         t->nr_crashes},
    };
    int st = DT_OK;

    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums) && st == DT_OK; i++) {
        st = put_one(out, sums[i].name, "counter", sums[i].help, sums[i].value);
    }
    return st;
}

int
metrics_format(const struct sight_view *v, const struct sight *s,
               struct buf *out)
{
    int st = put_head(out, "dtail_build_info", "gauge", "The program.");

    if (st == DT_OK) {
        st = buf_printf(out, "dtail_build_info{version=\"%s\"} 1\n",
                        PACKAGE_VERSION);
    }
    if (st == DT_OK) {
        st = put_one(out, "dtail_start_time_seconds", "gauge",
                     "When the server was started, in seconds since 1970.",
                     (uint64_t)s->started);
    }
    st = st == DT_OK ? put_connections(out, v) : st;
    st = st == DT_OK ? put_slots(out, &v->shared->slots) : st;
    st = st == DT_OK ? put_queries(out, &v->shared->totals) : st;
    st = st == DT_OK ? put_sums(out, &v->shared->totals) : st;
    return st == DT_OK ? put_jobs(out, v->jobs) : st;
}

/* ---- HTTP ---- */

static int
respond(struct buf *out, const char *status, const char *type, const char *body,
        size_t len)
{
    int st = buf_printf(out,
                        "HTTP/1.0 %s\r\nContent-Type: %s\r\n"
                        "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                        status, type, len);

    return st == DT_OK ? buf_append(out, body, len) : st;
}

static int
refuse(struct buf *out, const char *status)
{
    return respond(out, status, "text/plain", "", 0);
}

/* Whether the headers are over. */
static bool
is_whole(const char *request, size_t len)
{
    return memmem(request, len, "\r\n\r\n", 4) ||
           memmem(request, len, "\n\n", 2);
}

/* Whether the first line is the one that is answered, with any query. */
static bool
is_known(const char *request, size_t len)
{
    const char *end = memchr(request, '\n', len);
    size_t line = end ? (size_t)(end - request) : 0, n = strlen(GET);

    return line > n && memcmp(request, GET, n) == 0 &&
           (request[n] == ' ' || request[n] == '?') &&
           memmem(request + n, line - n, " HTTP/1.", 8) != NULL;
}

int
metrics_answer(const char *request, size_t len, bool is_full,
               const struct sight_view *v, const struct sight *s,
               struct buf *out)
{
    struct buf body = {0};
    int st;

    /* who does not even begin with a method's letters says no HTTP */
    if (len > 0 && (*request < 'A' || *request > 'Z')) {
        return DT_ERR_PROTO;
    }
    if (!is_whole(request, len)) {
        return !is_full ? DT_AGAIN
               : len == ENDPOINT_MAX_REQUEST
                   ? refuse(out, "431 Request Header Fields Too Large")
                   : DT_ERR_PROTO;
    }
    if (!is_known(request, len)) {
        return refuse(out, memcmp(request, "GET ", 4) == 0
                               ? "404 Not Found"
                               : "405 Method Not Allowed\r\nAllow: GET");
    }
    st = metrics_format(v, s, &body);
    if (st == DT_OK) {
        st = respond(out, "200 OK", "text/plain; version=0.0.4; charset=utf-8",
                     body.data, body.len);
    }
    buf_fini(&body);
    return st;
}
