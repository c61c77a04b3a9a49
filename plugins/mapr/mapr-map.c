/* SPDX-License-Identifier: Apache-2.0
 *
 * mapr, the map stage: blocks to groups, groups to partial results.
 *
 * What an interval gives out is what came since the last one; the reduce
 * stage adds up.
 */
#include "mapr.h"

#include "logformat.h"
#include "mapr-context.h"
#include "partial.h"

#include <stdlib.h>
#include <time.h>

struct map {
    struct dt_query *host;
    struct mapr_query query;
    struct plan_run run;
    struct logformat format;
    struct partial_hosts hosts;
    struct partial_stats stats;
    struct partial_writer writer;
    struct text partial;
    struct mapr_context context;
    bool is_draining;
    char host_name[256];
    char timezone[16], timeoffset[16];
    struct text pattern; /* of a configured format */
};

static void
map_close(void *self)
{
    struct map *m = self;

    mapr_context_fini(&m->context);
    logformat_close(&m->format);
    plan_run_fini(&m->run);
    partial_hosts_fini(&m->hosts);
    partial_stats_fini(&m->stats);
    text_fini(&m->partial);
    text_fini(&m->pattern);
    mapr_query_fini(&m->query);
    free(m);
}

/* Which format, and what a fallback tells the user. */
static void
choose_format(struct map *m)
{
    const struct settings *s = mapr_settings();
    struct str name = language_format(m->query.q, s->logformat);
    const char *custom = str_is(name, "custom1")   ? s->custom[0]
                         : str_is(name, "custom2") ? s->custom[1]
                                                   : NULL;
    char text[256];

    m->format.format_pattern = m->query.q->pattern;
    if (custom) {
        m->format.ops = &logformat_regex;
        m->format.format_pattern = str_of(custom);
        return;
    }
    m->format.ops = logformat_find(name);
    if (m->format.ops == &logformat_regex && !m->query.q->pattern.p) {
        m->format.ops = NULL; /* a configured default without a pattern */
    }
    if (!m->format.ops) {
        const char *why = logformat_fallback(name, text, sizeof(text));

        m->format.ops = &logformat_generic;
        text_puts(&m->stats.note, why ? why : "");
        dt_log(m->host, DT_LOG_ERROR, "%s", why ? why : "no log format");
    }
}

static int
open_format(struct map *m)
{
    time_t now = time(NULL);
    struct tm tm = {0};
    struct logformat_machine machine;
    char err[300] = "";
    int status;

    localtime_r(&now, &tm);
    snprintf(m->timezone, sizeof(m->timezone), "%s",
             tm.tm_zone ? tm.tm_zone : "UTC");
    snprintf(m->timeoffset, sizeof(m->timeoffset), "%ld", tm.tm_gmtoff);
    machine.hostname = str_of(m->host_name);
    machine.timezone = str_of(m->timezone);
    machine.timeoffset = str_of(m->timeoffset);
    m->format.query = m->host;
    m->format.is_inverted = mapr_flag(m->host, "invert", false);
    m->format.is_following = mapr_flag(m->host, "follow", false);
    choose_format(m);
    status = logformat_open(&m->format, &m->run, &machine, err, sizeof(err));
    if (status < 0) {
        return dt_error(m->host, status, "query: %s",
                        err[0] ? err : dt_strerror(status));
    }
    if (m->format.ops->is_ordered || mapr_context_is_wanted(&m->context)) {
        dt_ordered(m->host);
    }
    return DT_OK;
}

static int
map_start(struct dt_query *q, void **self)
{
    struct map *m = calloc(1, sizeof(*m));
    int status;

    if (!m) {
        return dt_error(q, DT_ERR_NOMEM, "query: out of memory");
    }
    m->host = q;
    m->context.args.before = (uint64_t)mapr_count(q, "before", 0);
    m->context.args.after = (uint64_t)mapr_count(q, "after", 0);
    m->context.args.max = (uint64_t)mapr_count(q, "max", 0);
    mapr_host_name(m->host_name, sizeof(m->host_name));
    status = mapr_query_init(&m->query, q);
    if (status == DT_OK &&
        (plan_run_init(&m->run, m->query.plan, mapr_budget(q)) < 0 ||
         partial_stats_init(&m->stats, m->query.plan) < 0 ||
         partial_host(&m->hosts, str_of(m->host_name)) == PLAN_NONE)) {
        status = dt_error(q, DT_ERR_NOMEM, "query: out of memory");
    }
    if (status == DT_OK) {
        status = open_format(m);
    }
    if (status < 0) {
        map_close(m);
        return status;
    }
    *self = m;
    return DT_OK;
}

static int
fail_memory(struct map *m, int status)
{
    if (status == DT_ERR_LIMIT) {
        return dt_error(m->host, status, "query: %s",
                        m->context.args.before
                            ? "the lines that --before asks for take more "
                              "than 64 MiB"
                            : "the header line of a CSV file is longer than "
                              "64 KiB");
    }
    return dt_error(m->host, status, "query: %s at %zu MiB",
                    dt_strerror(status), groups_bytes(&m->run.groups) >> 20);
}

static int
map_feed(void *self, const struct dt_block *block)
{
    struct map *m = self;
    int status, settled;

    if (mapr_context_is_wanted(&m->context)) {
        status = mapr_context_feed(&m->context, &m->format, block);
    } else {
        status = m->format.ops->feed(&m->format, block);
    }
    settled = status < 0 ? DT_OK : plan_settle(&m->run);
    if (status < 0 || settled < 0) {
        return fail_memory(m, status < 0 ? status : settled);
    }
    return status;
}

static int
map_finish(void *self)
{
    struct map *m = self;
    int status = DT_OK;

    if (m->format.ops->finish) {
        status = m->format.ops->finish(&m->format);
    }
    if (status == DT_OK) {
        status = plan_settle(&m->run);
    }
    return status < 0 ? fail_memory(m, status) : DT_OK;
}

/* What is told beside the groups; each figure once. */
static void
collect_stats(struct map *m)
{
    m->stats.lines = m->format.stats;
    m->stats.rows = m->run.stats.rows;
    m->stats.other_rows = m->run.groups.other_rows;
    memcpy(m->stats.not_numbers, m->run.stats.not_numbers,
           m->query.plan->layout.nr * sizeof(uint64_t));
    memcpy(m->stats.seen, m->format.seen, m->query.plan->nr_slots);
    *m->stats.hints = m->format.hints;
}

static void
forget(struct map *m)
{
    groups_reset(&m->run.groups);
    memset(&m->format.stats, 0, sizeof(m->format.stats));
    m->run.stats.rows = 0;
    memset(m->run.stats.not_numbers, 0,
           m->query.plan->layout.nr * sizeof(uint64_t));
    memset(&m->writer, 0, sizeof(m->writer));
    m->is_draining = false;
}

static int
map_drain(void *self, enum dt_drain why)
{
    struct map *m = self;
    bool final = why == DT_DRAIN_FINAL;
    int status, emitted;

    if (!m->is_draining) {
        if (!final && m->format.stats.lines == 0 && m->run.groups.nr == 0) {
            return DT_OK; /* nothing since the last interval */
        }
        m->is_draining = true;
        collect_stats(m);
    }
    status = partial_write(&m->writer, m->query.plan, &m->run.groups, &m->hosts,
                           &m->stats, final, &m->partial);
    if (status < 0) {
        return fail_memory(m, status);
    }
    if (m->partial.len) {
        emitted = dt_emit_partial(m->host, m->partial.data, m->partial.len);
        if (emitted < 0) {
            return emitted;
        }
    }
    if (status == DT_OK && !final) {
        forget(m);
    }
    return status;
}

const struct dt_stage mapr_map = {
    .size = sizeof(struct dt_stage),
    .start = map_start,
    .feed = map_feed,
    .finish = map_finish,
    .drain = map_drain,
    .close = map_close,
};
