/* SPDX-License-Identifier: Apache-2.0
 *
 * Who reads what: the queries of a session as the listener knows them, a line
 * for the log at the end of each, and the sums of all.
 *
 * The worker tells of each query that begins and ends (worker-audit.h). What
 * runs meanwhile counts in memory that worker and listener share, and is only
 * shown. When a worker dies its queries end with it, and are told too. No
 * limit keeps these lines back.
 *
 * The listener's thread.
 */
#ifndef CORE_AUDIT_H
#define CORE_AUDIT_H

#include "broker.h"
#include "log.h"
#include "query.h"

/* Queries of one session; Server.MaxQueries may not be more. */
#define AUDIT_MAX_QUERIES 10000u
/* Of one session that are counted while they run. */
#define AUDIT_LIVE_ROWS 64u
#define AUDIT_NO_ROW (-1)
/* Bytes of the names of the files in a line. */
#define AUDIT_MAX_FILES 1024u
/* Plugins that have sums of their own; the rest is "other". */
#define AUDIT_MAX_PLUGINS 64u

struct audit_query {
    struct audit_query *next;
    uint32_t id;
    char plugin[BROKER_MAX_USER + 1];
    bool turbo, follow;
    int row; /* of the live counters, or AUDIT_NO_ROW */
    int64_t nr_files;
    int64_t began_ms;
    char files[]; /* escaped, cut to AUDIT_MAX_FILES */
};

struct audit_counts {
    uint64_t bytes_read, bytes_sent, lines_sent;
    uint32_t sources, failed; /* files read, and refused or broken off */
};

/* What all sessions have done. */
struct audit_totals {
    struct audit_counts counts; /* of queries that ended; files summed up */
    uint64_t nr_sources, nr_failed_sources;
    uint64_t nr_crashes; /* of workers */
    size_t nr_running;
    size_t nr_plugins;
    struct audit_plugin {
        char name[BROKER_MAX_USER + 1];
        uint64_t nr_good, nr_failed; /* queries that ended */
        size_t nr_running;
    } plugins[AUDIT_MAX_PLUGINS + 1];
};

/* A session's part. */
struct audit {
    struct audit_query *running;
    size_t nr;
    struct query_live *live; /* AUDIT_LIVE_ROWS of them, shared with the
                                worker; NULL: none */
};

/* Who a session is, for the lines. */
struct audit_who {
    const char *user;
    const char *peer; /* address:port */
    const char *job;  /* NULL or "": none */
};

/* Memory that is shared with the child that is forked next. DT_OK or
 * DT_ERR_NOMEM. */
int audit_share(struct audit *a);
/* … and that later children do not get. */
void audit_shared(struct audit *a);

/* BROKER_QUERY_BEGIN and _END of a worker. DT_OK, DT_ERR_PROTO (numbers that
 * cannot be), DT_ERR_LIMIT or DT_ERR_NOMEM. */
int audit_begin(struct audit *a, struct audit_totals *totals,
                const struct broker_msg *msg, bool is_known_plugin,
                int64_t now_ms);
int audit_end(struct audit *a, struct audit_totals *totals, struct log *log,
              const struct audit_who *who, const struct broker_msg *msg,
              int64_t now_ms);
/* The worker is gone: what still runs has ended with it. */
void audit_abandon(struct audit *a, struct audit_totals *totals,
                   struct log *log, const struct audit_who *who,
                   const char *why, int64_t now_ms);
void audit_fini(struct audit *a);

/* What a running query has done so far; zeros where that is not known. */
struct audit_counts audit_so_far(const struct audit *a,
                                 const struct audit_query *q);

/* Copies text for a field of a line: `|`, `,`, backslashes and what is not
 * printable as \xNN. Returns the length; `out` of `cap` bytes is terminated,
 * and nothing is cut in the middle of an escape. */
size_t audit_escape(char *out, size_t cap, const char *text, size_t len);

#endif
