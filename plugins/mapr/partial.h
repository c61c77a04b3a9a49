/* SPDX-License-Identifier: Apache-2.0
 *
 * Partial results on their way to the reduce stage: typed, lossless, and
 * merged so that the order of arrival does not matter.
 *
 * A partial is "DTM", a version byte, a fingerprint of the accumulators, the
 * names of the hosts it speaks of, and records: groups, the group "(other)",
 * statistics. Integers are LEB128, doubles 8 bytes little endian. Everything
 * is checked against its bounds: partials come from other machines.
 */
#ifndef MAPR_PARTIAL_H
#define MAPR_PARTIAL_H

#include "logformat.h"
#include "plan.h"

#define PARTIAL_FORMAT 1u                /* the descriptor's partial_format */
#define PARTIAL_TARGET ((size_t)1 << 20) /* bytes at which one is sent */
#define PARTIAL_MAX_HOSTS 100000u

/* Names of hosts; a place refers to them by index. */
struct partial_hosts {
    struct str *names; /* of the arena */
    uint32_t nr, cap;
    struct arena arena;
};

/* The index of a name, added if it is new. PLAN_NONE: out of memory, or more
 * than PARTIAL_MAX_HOSTS. */
uint32_t partial_host(struct partial_hosts *h, struct str name);
void partial_hosts_fini(struct partial_hosts *h);

/* What is told beside the groups. */
struct partial_stats {
    struct logformat_stats lines;
    uint64_t rows;
    uint64_t other_rows;
    uint64_t *not_numbers; /* by accumulator */
    uint8_t *seen;         /* by slot */
    struct hints *hints;   /* names that stand on lines */
    struct text note;      /* a message for the user; may be empty */
};

/* All members of a plan's size. DT_OK or DT_ERR_NOMEM. */
int partial_stats_init(struct partial_stats *s, const struct plan *p);
void partial_stats_fini(struct partial_stats *s);

/* Writes groups piece by piece. */
struct partial_writer {
    struct groups_walk walk;
    struct group *group; /* that is being written */
    uint32_t acc;        /* the next of it */
    size_t dropped;      /* chunks whose memory was given back */
    bool groups_done, other_done, stats_done;
};

/* Fills *out (emptied first) with the next partial. DT_AGAIN: there are more;
 * DT_OK: this was the last, or, with out->len == 0, there was nothing more.
 * `stats` may be NULL. With `drop`, memory of groups that are written is freed
 * on the way; the groups are then good for groups_fini only. */
int partial_write(struct partial_writer *w, const struct plan *p,
                  struct groups *groups, const struct partial_hosts *hosts,
                  const struct partial_stats *stats, bool drop,
                  struct text *out);

/* Takes partials in. */
struct partial_sink {
    const struct plan *plan;
    struct groups groups;
    struct partial_hosts hosts;
    struct partial_stats stats;
    uint32_t *host_map; /* of the partial that is read */
    size_t cap_map;
};

int partial_sink_init(struct partial_sink *s, const struct plan *p,
                      size_t budget);
void partial_sink_fini(struct partial_sink *s);
/* Merges one. DT_OK; DT_ERR_PROTO (reason in err), DT_ERR_NOMEM. */
int partial_read(struct partial_sink *s, const void *data, size_t len,
                 char *err, size_t err_size);

#endif
