/* SPDX-License-Identifier: Apache-2.0
 *
 * The status document as text for people.
 */
#include "stats.h"
#include "status.h"

#include <jansson.h>
#include <string.h>

/* ---- members; what is lacking is "" or 0 ---- */

static const char *
str(const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));

    return s ? s : "";
}

static long long
num(const json_t *o, const char *name)
{
    return (long long)json_integer_value(json_object_get(o, name));
}

static double
real(const json_t *o, const char *name)
{
    return json_real_value(json_object_get(o, name));
}

static bool
yes(const json_t *o, const char *name)
{
    return json_is_true(json_object_get(o, name));
}

/* ---- parts ---- */

static int
put_server(const json_t *o, struct buf *out)
{
    char uptime[32];

    stats_uptime(uptime, sizeof(uptime), (int64_t)real(o, "uptime"));
    return buf_printf(out,
                      "dserver %s on %s, pid %lld, up %s since %s%s\n"
                      "listening:   %s port %lld; workers have the rights %s\n"
                      "settings:    %s\n"
                      "sandbox:     %s\n",
                      str(o, "version"), str(o, "host"), num(o, "pid"), uptime,
                      str(o, "started"), yes(o, "stopping") ? ", stopping" : "",
                      str(o, "address"), num(o, "port"), str(o, "rights"),
                      *str(o, "config") ? str(o, "config") : "defaults",
                      str(o, "sandbox"));
}

static int
put_numbers(const json_t *o, struct buf *out)
{
    const json_t *c = json_object_get(o, "connections");
    const json_t *slots = json_object_get(o, "slots");
    const json_t *cats = json_object_get(slots, "cats");
    const json_t *tails = json_object_get(slots, "tails");
    const json_t *t = json_object_get(o, "totals");

    return buf_printf(
        out,
        "connections: %lld of %lld users, %lld health checks, %lld not logged "
        "in; %lld log-ins so far\n"
        "slots:       cats %lld of %lld, %lld wait; tails %lld of %lld, %lld "
        "wait\n"
        "so far:      %lld queries, %lld failed; %lld files, %lld failed; "
        "%lld bytes read, %lld sent in %lld lines; %lld workers crashed\n",
        num(c, "users"), num(c, "users_max"), num(c, "health"),
        num(c, "pre_auth"), num(c, "logins"), num(cats, "used"),
        num(cats, "max"), num(cats, "waiting"), num(tails, "used"),
        num(tails, "max"), num(tails, "waiting"), num(t, "queries_ended"),
        num(t, "queries_failed"), num(t, "files_read"), num(t, "files_failed"),
        num(t, "bytes_read"), num(t, "bytes_sent"), num(t, "lines_sent"),
        num(t, "workers_crashed"));
}

static int
put_sessions(const json_t *o, struct buf *out)
{
    const json_t *sessions = json_object_get(o, "sessions"), *s, *q;
    size_t i, k;
    int st = buf_printf(out, "\nsessions: %zu\n", json_array_size(sessions));

    json_array_foreach(sessions, i, s)
    {
        st = st ? st
                : buf_printf(out, "  %s@%s%s%s, %.1f s\n", str(s, "user"),
                             str(s, "peer"), *str(s, "job") ? ", job " : "",
                             str(s, "job"), real(s, "seconds"));
        json_array_foreach(json_object_get(s, "queries"), k, q)
        {
            st = st ? st
                    : buf_printf(out,
                                 "    %lld %s, %s%s, %.1f s, %lld bytes read, "
                                 "%lld sent in %lld lines: %s\n",
                                 num(q, "id"), str(q, "plugin"), str(q, "mode"),
                                 yes(q, "follow") ? ", follows" : "",
                                 real(q, "seconds"), num(q, "bytes_read"),
                                 num(q, "bytes_sent"), num(q, "lines_sent"),
                                 str(q, "files"));
        }
    }
    if (st == DT_OK && num(o, "left_out") > 0) {
        st = buf_printf(out, "  and %lld sessions and queries more\n",
                        num(o, "left_out"));
    }
    return st;
}

static int
put_plugins(const json_t *o, struct buf *out)
{
    const json_t *plugins = json_object_get(o, "plugins"), *p;
    int st = buf_puts(out, "\nplugins:\n");
    size_t i;

    json_array_foreach(plugins, i, p)
    {
        st = st ? st
                : buf_printf(out, "  %s %s %s (%s)\n", str(p, "name"),
                             str(p, "version"),
                             !yes(p, "offered") ? "refused"
                             : yes(p, "turbo")  ? "turbo"
                                                : "normal",
                             str(p, "reason"));
    }
    return st;
}

static int
put_jobs(const json_t *o, struct buf *out)
{
    const json_t *jobs = json_object_get(o, "jobs"), *j;
    int st = json_array_size(jobs) ? buf_puts(out, "\njobs:\n") : DT_OK;
    size_t i;

    json_array_foreach(jobs, i, j)
    {
        bool runs = yes(j, "running");

        st = st ? st
                : buf_printf(
                      out,
                      "  %s %s: %s%s%s%s%s%s%s%s; %lld results, "
                      "%lld failed runs",
                      str(j, "kind"), str(j, "name"), runs ? "runs since " : "",
                      runs ? str(j, "started") : "", runs ? "; " : "",
                      str(j, "outcome"), *str(j, "ended") ? " at " : "",
                      str(j, "ended"), *str(j, "reason") ? ", " : "",
                      str(j, "reason"), num(j, "results"), num(j, "failed"));
        if (st == DT_OK) {
            st = runs ? buf_puts(out, "\n")
                      : buf_printf(out, "; looked at in %.0f s\n",
                                   real(j, "next_in"));
        }
    }
    return st;
}

int
status_text(const char *json, size_t len, struct buf *out)
{
    json_t *o = json_loadb(json, len, 0, NULL);
    int st;

    if (!o || strcmp(str(o, "program"), "dserver") != 0) {
        json_decref(o);
        return DT_ERR_PROTO;
    }
    st = put_server(o, out);
    st = st ? st : put_numbers(o, out);
    st = st ? st : put_sessions(o, out);
    st = st ? st : put_plugins(o, out);
    st = st ? st : put_jobs(o, out);
    json_decref(o);
    return st;
}
