/* SPDX-License-Identifier: Apache-2.0
 *
 * The status document.
 */
#include "status.h"
#include "clock.h"
#include "confine.h"
#include "jsonval.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* How much of the lists there is room for. */
struct room {
    size_t sessions, queries, left_out;
};

/* ---- values ---- */

/* Text from outside may be anything, and ends on a terminal: control bytes, or
 * all that is not ASCII where it is not UTF-8, become question marks. */
static json_t *
text(const char *s)
{
    char *copy = strdup(s ? s : "");
    json_t *value;

    for (char *c = copy; c && *c; c++) {
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    }
    value = copy ? json_string(copy) : NULL;
    for (char *c = value ? NULL : copy; c && *c; c++) {
        *c = (unsigned char)*c >= 0x80 ? '?' : *c;
    }
    value = value ? value : copy ? json_string(copy) : NULL;
    free(copy);
    return value;
}

static json_t *
number(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *
seconds(int64_t ms)
{
    return json_real((double)(ms < 0 ? 0 : ms) / 1000.0);
}

static json_t *
moment(time_t when)
{
    char out[32];
    struct tm tm;

    if (when == 0 || !gmtime_r(&when, &tm) ||
        strftime(out, sizeof(out), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
        return json_null();
    }
    return json_string(out);
}

/* ---- sessions ---- */

static int
put_counts(json_t *o, const struct audit_counts *c)
{
    int failed = jsonval_put(o, "bytes_read", number(c->bytes_read));

    failed |= jsonval_put(o, "bytes_sent", number(c->bytes_sent));
    return failed | jsonval_put(o, "lines_sent", number(c->lines_sent));
}

static int
add_query(json_t *list, const struct connection *c, const struct audit_query *q,
          int64_t now)
{
    const struct audit_counts counts = audit_so_far(&c->audit, q);
    json_t *o = json_object();
    int failed = 0;

    failed |= jsonval_put(o, "id", json_integer(q->id));
    failed |= jsonval_put(o, "plugin", text(q->plugin));
    failed |=
        jsonval_put(o, "mode", json_string(q->turbo ? "turbo" : "normal"));
    failed |= jsonval_put(o, "follow", json_boolean(q->follow));
    failed |= jsonval_put(o, "files", text(q->files));
    failed |= jsonval_put(o, "seconds", seconds(now - q->began_ms));
    failed |= put_counts(o, &counts);
    return failed | json_array_append_new(list, o);
}

static const char *
role_name(enum auth_role role)
{
    switch (role) {
    case AUTH_ROLE_USER:
        return "user";
    case AUTH_ROLE_HEALTH:
        return "health";
    default:
        return "job";
    }
}

static int
add_session(json_t *list, const struct connection *c, struct room *room,
            int64_t now)
{
    json_t *o = json_object(), *queries = json_array();
    int failed = 0;

    failed |= jsonval_put(o, "user", text(c->user));
    failed |= jsonval_put(o, "peer", text(c->peer));
    failed |= jsonval_put(o, "role", json_string(role_name(c->role)));
    failed |= jsonval_put(o, "job", text(c->job ? c->job : ""));
    failed |= jsonval_put(o, "seconds", seconds(now - c->began_ms));
    failed |= jsonval_put(o, "session_pid", json_integer(c->session_pid));
    failed |= jsonval_put(o, "worker_pid", json_integer(c->worker_pid));
    for (const struct audit_query *q = c->audit.running; q && !failed;
         q = q->next) {
        if (room->queries > 0) {
            room->queries--;
            failed |= add_query(queries, c, q, now);
        } else {
            room->left_out++;
        }
    }
    failed |= jsonval_put(o, "queries", queries);
    return failed | json_array_append_new(list, o);
}

static int
put_sessions(json_t *o, const struct sight_view *v)
{
    struct room room = {STATUS_MAX_SESSIONS, STATUS_MAX_QUERIES, 0};
    json_t *list = json_array();
    int64_t now = clock_now_ms();
    int failed = 0;

    for (size_t i = 0; i < v->nr && !failed; i++) {
        if (!v->conns[i]->is_authenticated) {
            continue;
        }
        if (room.sessions > 0) {
            room.sessions--;
            failed |= add_session(list, v->conns[i], &room, now);
        } else {
            room.left_out += 1 + v->conns[i]->audit.nr;
        }
    }
    failed |= jsonval_put(o, "sessions", list);
    return failed | jsonval_put(o, "left_out", number(room.left_out));
}

/* ---- the rest ---- */

static int
put_connections(json_t *o, const struct sight_view *v)
{
    const struct connection_shared *sh = v->shared;
    const struct stats_counts counts = sight_count(v);
    json_t *c = json_object();
    int failed = 0;

    failed |= jsonval_put(c, "users", number(sh->nr_users));
    failed |= jsonval_put(c, "users_max",
                          json_integer(sh->config->server.max_connections));
    failed |= jsonval_put(c, "health", number(sh->nr_health));
    failed |= jsonval_put(c, "pre_auth", number(counts.pre_auth));
    failed |= jsonval_put(c, "logins", number(counts.lifetime));
    return failed | jsonval_put(o, "connections", c);
}

static int
put_slots(json_t *o, const struct slots_table *slots)
{
    static const char *const names[] = {
        [SLOTS_CAT] = "cats", [SLOTS_TAIL] = "tails"};
    json_t *pools = json_object();
    int failed = 0;

    for (int i = 0; i < SLOTS_NR_POOLS; i++) {
        json_t *p = json_object();

        failed |= jsonval_put(p, "used", json_integer(slots->used[i]));
        failed |= jsonval_put(p, "max", json_integer(slots->limit[i]));
        failed |= jsonval_put(p, "waiting",
                              number(slots_waiting(slots, (enum slots_pool)i)));
        failed |= jsonval_put(pools, names[i], p);
    }
    return failed | jsonval_put(o, "slots", pools);
}

static int
put_totals(json_t *o, const struct audit_totals *t)
{
    uint64_t good = 0, bad = 0;
    json_t *sums = json_object();
    int failed = 0;

    for (size_t i = 0; i <= AUDIT_MAX_PLUGINS; i++) {
        good += t->plugins[i].nr_good;
        bad += t->plugins[i].nr_failed;
    }
    failed |= jsonval_put(sums, "queries_running", number(t->nr_running));
    failed |= jsonval_put(sums, "queries_ended", number(good + bad));
    failed |= jsonval_put(sums, "queries_failed", number(bad));
    failed |= jsonval_put(sums, "files_read", number(t->nr_sources));
    failed |= jsonval_put(sums, "files_failed", number(t->nr_failed_sources));
    failed |= put_counts(sums, &t->counts);
    failed |= jsonval_put(sums, "workers_crashed", number(t->nr_crashes));
    return failed | jsonval_put(o, "totals", sums);
}

static int
put_plugins(json_t *o, const struct plugins *plugins)
{
    json_t *list = json_array();
    int failed = 0;

    for (size_t i = 0; i < plugins_count(plugins) && !failed; i++) {
        const struct plugin *p = plugins_at(plugins, i);
        const char *refused = plugin_refused(p), *reason = "";
        bool turbo = !refused && plugin_turbo(p, &reason);
        json_t *row = json_object();

        failed |= jsonval_put(row, "name", text(plugin_name(p)));
        failed |= jsonval_put(
            row, "version", text(refused ? "" : plugin_descriptor(p)->version));
        failed |= jsonval_put(row, "offered", json_boolean(!refused));
        failed |= jsonval_put(row, "turbo", json_boolean(turbo));
        failed |= jsonval_put(row, "reason", text(refused ? refused : reason));
        failed |= json_array_append_new(list, row);
    }
    return failed | jsonval_put(o, "plugins", list);
}

static int
put_jobs(json_t *o, const struct jobs *jobs)
{
    const struct jobs_now now = {.ms = clock_now_ms(), .wall = time(NULL)};
    json_t *list = json_array();
    struct jobs_row r;
    int failed = 0;

    for (size_t i = 0; jobs && i < jobs_count(jobs) && !failed; i++) {
        json_t *row = json_object();

        jobs_row_at(jobs, i, &now, &r);
        failed |= jsonval_put(row, "kind", json_string(r.kind));
        failed |= jsonval_put(row, "name", text(r.name));
        failed |= jsonval_put(row, "running", json_boolean(r.is_running));
        failed |= jsonval_put(row, "started", moment(r.started));
        failed |= jsonval_put(row, "ended", moment(r.ended));
        failed |= jsonval_put(row, "outcome",
                              json_string(job_outcome_name(r.outcome)));
        failed |= jsonval_put(row, "reason", text(r.reason));
        failed |= jsonval_put(row, "rows", number(r.nr_rows));
        failed |= jsonval_put(row, "results", number(r.nr_results));
        failed |= jsonval_put(row, "failed", number(r.nr_failed));
        failed |= jsonval_put(row, "next_in", seconds(r.next_in_ms));
        failed |= json_array_append_new(list, row);
    }
    return failed | jsonval_put(o, "jobs", list);
}

static int
put_server(json_t *o, const struct sight *s, const struct sight_view *v)
{
    const struct connection_shared *sh = v->shared;
    struct buf sandbox = {0};
    int failed = 0;

    if (confine_describe(sh->confine, &sandbox) != DT_OK ||
        buf_append(&sandbox, "", 1) != DT_OK) {
        buf_fini(&sandbox);
        return -1;
    }
    failed |= jsonval_put(o, "program", json_string("dserver"));
    failed |= jsonval_put(o, "version", json_string(PACKAGE_VERSION));
    failed |= jsonval_put(o, "host", text(sh->host));
    failed |= jsonval_put(o, "pid", json_integer(sh->self));
    failed |= jsonval_put(o, "started", moment(s->started));
    failed |= jsonval_put(o, "uptime", seconds(clock_now_ms() - s->started_ms));
    failed |=
        jsonval_put(o, "address", text(sh->config->server.ssh_bind_address));
    failed |= jsonval_put(o, "port", json_integer(s->port));
    failed |= jsonval_put(o, "config",
                          text(sh->config->path ? sh->config->path : ""));
    failed |= jsonval_put(o, "stopping", json_boolean(sh->is_stopping));
    failed |= jsonval_put(
        o, "rights",
        json_string(sh->as_root ? "of the users" : "of the server"));
    failed |= jsonval_put(o, "sandbox", text(sandbox.data));
    buf_fini(&sandbox);
    return failed;
}

int
status_format(const struct sight *s, const struct sight_view *v,
              struct buf *out)
{
    json_t *o = json_object();
    char *json = NULL;
    int st = DT_ERR_NOMEM;

    if (o && !(put_server(o, s, v) | put_connections(o, v) |
               put_slots(o, &v->shared->slots) |
               put_totals(o, &v->shared->totals) | put_sessions(o, v) |
               put_plugins(o, v->shared->plugins) | put_jobs(o, v->jobs))) {
        json = json_dumps(o, JSON_INDENT(2));
    }
    if (json) {
        st = buf_printf(out, "%s\n", json);
    }
    free(json);
    json_decref(o);
    return st;
}
