/* SPDX-License-Identifier: Apache-2.0
 *
 * One instance of a query's map stage with the host that it talks to: feeds
 * units of input to it and packs what it emits into frames.
 *
 * Threads: a lane belongs to one thread at a time.
 */
#ifndef CORE_LANE_H
#define CORE_LANE_H

#include "inputs.h"
#include "packer.h"

#include <pthread.h>

/* What the lanes of a query share. */
struct lane_shared {
    const struct query_env *env;
    const struct query_spec *spec;
    const struct plugin *plugin;
    struct inputs *inputs;
    struct order *order;
    struct cancel *cancel;
    bool is_numbered;     /* line numbers are wanted */
    bool is_normal;       /* one line a feed */
    bool is_ordered;      /* an instance asked for it in start */
    struct lane *combine; /* takes partials instead of the wire, or NULL */
    pthread_mutex_t combine_lock; /* one thread at a time feeds it … */
    int64_t combine_next_ms;      /* … and has it report at intervals */
    pthread_mutex_t lock;         /* for the error below */
    int status;                   /* the first error of the query … */
    char text[ERROR_TEXT_MAX];    /* … and its message */
    _Atomic uint64_t lines_read;
    _Atomic uint64_t lines_sent;
};

/* Following: where another session may go on, as far as the present unit
 * says. */
struct lane_place {
    bool has_lines; /* lines were given out, which say it themselves */
    bool is_set;    /* the plugin said it without lines (dt_emit_lines) */
    /* of what came last */
    uint32_t generation;
    uint64_t offset;
    uint32_t state_len;
    uint8_t state[DT_STATE_MAX];
};

/* Fields are of lane*.c. */
struct lane {
    struct dt_query base; /* first: the plugin's handle is the lane */
    struct lane_shared *sh;
    enum dt_role role;
    struct instance *instance;
    struct unit unit;
    int64_t next_report_ms; /* 0: no intervals */
    pthread_mutex_t busy;   /* held from getting a unit to giving it back */
    bool is_over;           /* no more than close may be called */
    bool is_first_run;
    /* what lane_shared and env->live do not know of yet */
    uint64_t nr_sent, bytes_read, bytes_sent;
    uint32_t generation; /* which file of a followed source is fed */
    struct lane_place place;
    bool is_closing;      /* inside close: output is refused */
    struct packer packer; /* what was emitted, on its way */
    struct buf slack;     /* a partial on its way to combine */
};

/* Starts the instance. `role`: DT_ROLE_MAP, or DT_ROLE_COMBINE for the reduce
 * stage on the server. */
int lane_new(struct lane_shared *shared, enum dt_role role, struct lane **out);
void lane_free(struct lane *l);

/* Takes units until there are none: DT_OK, or what ended it early. */
int lane_run(struct lane *l);
/* Feeds the present run of a unit. `first_line` and `nr_lines`
 * are 0 when not counted. */
int lane_feed_run(struct lane *l, const struct unit *u, uint64_t first_line,
                  uint64_t nr_lines);
/* How many lines the present run is; 0 when nobody wants to know. */
uint64_t lane_count_run(struct lane *l, const struct unit *u);
/* Feeds an empty block that begins a source, which the plugin may stop. */
int lane_feed_begin(struct lane *l, const struct unit *u);
/* Feeds the empty block that ends a source. */
int lane_feed_last(struct lane *l, const struct unit *u);
/* Following: which file of the source is fed from now on. */
void lane_set_generation(struct lane *l, uint32_t generation);
const struct lane_place *lane_place(const struct lane *l);
/* The unit whose runs are fed from now on; its output goes out at the end. */
int lane_begin_unit(struct lane *l, const struct unit *u);
int lane_end_unit(struct lane *l);
/* Makes visible what was given out so far. */
int lane_show(struct lane *l);
/* Inside a unit: gives out what there is when an interval is over. */
int lane_report(struct lane *l);
/* When that is, by the monotonic clock; -1: never. */
int64_t lane_next_report(const struct lane *l);
/* From another thread: gives out what there is now if the lane waits for
 * input; one that works does so itself at the end of its unit. */
int lane_report_idle(struct lane *l);
/* What the lanes gave to the combining instance, if there is one, goes on to
 * the client: now, or when its interval is over. Any thread. */
int lane_report_combined(struct lane_shared *sh, bool is_due);
/* After the last unit: finish, then drain until all is given out. */
int lane_finish(struct lane *l);
int lane_drain(struct lane *l, enum dt_drain why);

/* Keeps the first error of the query and stops its other threads. Returns
 * status. */
int lane_fail(struct lane_shared *shared, int status, const char *text);

#endif
