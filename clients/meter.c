/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the work has come.
 */
#include "meter.h"

#include "clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

/* The rate is that of the last so many looks, two seconds or a bit more. */
#define NR_LOOKS 9u

/* A query at a server. */
struct place {
    uint64_t done, known; /* bytes */
    bool is_known;
};

struct look {
    int64_t at_ms;
    uint64_t done;
};

struct meter {
    pthread_mutex_t lock;
    struct place *places; /* by server and query */
    size_t nr_servers, nr_queries;
    bool is_local;
    uint64_t done, known;      /* over all places */
    size_t nr_unknown;         /* places that do not say how much there is */
    size_t nr_good, nr_failed; /* servers that are over */
    int64_t next_ms;
    struct look looks[NR_LOOKS]; /* a ring */
    size_t nr_looks;             /* ever */
};

struct meter *
meter_new(size_t nr_servers, size_t nr_queries, bool is_local, int64_t start_ms)
{
    struct meter *m = calloc(1, sizeof(*m));

    if (!m) {
        return NULL;
    }
    m->places = calloc(nr_servers * nr_queries, sizeof(*m->places));
    if (!m->places) {
        free(m);
        return NULL;
    }
    pthread_mutex_init(&m->lock, NULL);
    m->nr_servers = nr_servers;
    m->nr_queries = nr_queries;
    m->nr_unknown = nr_servers * nr_queries;
    m->is_local = is_local;
    m->next_ms = start_ms + METER_AFTER_MS;
    m->looks[0].at_ms = start_ms;
    m->nr_looks = 1;
    return m;
}

void
meter_free(struct meter *m)
{
    if (m) {
        pthread_mutex_destroy(&m->lock);
        free(m->places);
        free(m);
    }
}

/* ---- numbers in ---- */

static void
set_place_locked(struct meter *m, struct place *p, uint64_t done,
                 uint64_t known, bool is_known)
{
    m->done += done - p->done; /* modulo 2^64 */
    m->known += known - p->known;
    m->nr_unknown = m->nr_unknown + p->is_known - is_known;
    *p = (struct place){done, known, is_known};
}

static void
set(struct meter *m, size_t server, size_t query, uint64_t done, uint64_t known,
    bool is_known)
{
    if (m && server < m->nr_servers && query < m->nr_queries) {
        pthread_mutex_lock(&m->lock);
        set_place_locked(m, &m->places[server * m->nr_queries + query], done,
                         known < done ? done : known, is_known);
        pthread_mutex_unlock(&m->lock);
    }
}

void
meter_bytes(struct meter *m, size_t server, size_t query, uint64_t done,
            uint64_t known)
{
    set(m, server, query, done, known, known != 0);
}

void
meter_query_over(struct meter *m, size_t server, size_t query, uint64_t done)
{
    set(m, server, query, done, done, true);
}

void
meter_server_over(struct meter *m, size_t server, bool is_good)
{
    if (!m || server >= m->nr_servers) {
        return;
    }
    pthread_mutex_lock(&m->lock);
    m->nr_good += is_good;
    m->nr_failed += !is_good;
    for (size_t q = 0; q < m->nr_queries; q++) {
        struct place *p = &m->places[server * m->nr_queries + q];

        set_place_locked(m, p, p->done, p->done, true);
    }
    pthread_mutex_unlock(&m->lock);
}

int64_t
meter_next_ms(const struct meter *m)
{
    return m ? m->next_ms : CLOCK_NEVER;
}

/* ---- text out ---- */

/* "1.23 MB": three digits. */
static void
format_bytes(double bytes, char out[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;

    while (bytes >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1000;
        unit++;
    }
    snprintf(out, 32, "%.*f %s",
             unit == 0 || bytes >= 99.95 ? 0
             : bytes >= 9.995            ? 1
                                         : 2,
             bytes, units[unit]);
}

static void
format_left(double seconds, char out[48])
{
    uint64_t s = (uint64_t)(seconds + 0.5);

    if (s < 60) {
        snprintf(out, 48, "%" PRIu64 " s left", s);
    } else if (s < 3600) {
        snprintf(out, 48, "%" PRIu64 " min %" PRIu64 " s left", s / 60, s % 60);
    } else {
        snprintf(out, 48, "%" PRIu64 " h %" PRIu64 " min left", s / 3600,
                 s % 3600 / 60);
    }
}

/* Bytes a second since the oldest look that is kept. */
static double
take_look_locked(struct meter *m, int64_t now)
{
    size_t nr = m->nr_looks < NR_LOOKS ? m->nr_looks : NR_LOOKS;
    const struct look *oldest = &m->looks[(m->nr_looks - nr) % NR_LOOKS];
    int64_t ms = now - oldest->at_ms;
    double rate =
        ms > 0 ? (double)(int64_t)(m->done - oldest->done) * 1e3 / (double)ms
               : 0;

    m->looks[m->nr_looks++ % NR_LOOKS] = (struct look){now, m->done};
    return rate > 0 ? rate : 0;
}

/* A piece of the line; false: it has no room, nor has what follows. */
static bool
add(struct buf *out, size_t end, const char *format, ...)
{
    char piece[128];
    va_list ap;
    int len;

    va_start(ap, format);
    len = vsnprintf(piece, sizeof(piece), format, ap);
    va_end(ap);
    return len >= 0 && out->len + (size_t)len <= end &&
           buf_puts(out, piece) == DT_OK;
}

static bool
add_bytes(const struct meter *m, size_t end, struct buf *out)
{
    char done[32], known[32];

    format_bytes((double)m->done, done);
    format_bytes((double)m->known, known);
    if (m->nr_unknown == 0) {
        return add(out, end, "%s of %s", done, known) &&
               (m->known == 0 || add(out, end, " (%.0f %%)",
                                     100 * (double)m->done / (double)m->known));
    }
    return m->known > m->done ? add(out, end, "%s of at least %s", done, known)
                              : add(out, end, "%s", done);
}

static void
add_all(const struct meter *m, double rate, size_t end, struct buf *out)
{
    char text[48];
    bool fits = add_bytes(m, end, out);

    format_bytes(rate, text);
    fits = fits && add(out, end, ", %s/s", text);
    if (fits && m->nr_unknown == 0 && rate >= 1) {
        format_left((double)(m->known - m->done) / rate, text);
        fits = add(out, end, ", %s", text);
    }
    if (fits && !m->is_local) {
        fits = add(out, end, ", %zu of %zu server%s done", m->nr_good,
                   m->nr_servers, m->nr_servers == 1 ? "" : "s");
    }
    if (fits && m->nr_failed && !m->is_local) {
        add(out, end, ", %zu failed", m->nr_failed);
    }
}

int
meter_text(struct meter *m, int64_t now_ms, size_t width, struct buf *out)
{
    size_t end = out->len + width;

    if (!m || now_ms < m->next_ms) {
        return DT_AGAIN;
    }
    m->next_ms = now_ms + METER_EVERY_MS;
    if (buf_reserve(out, width + 1) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    pthread_mutex_lock(&m->lock);
    add_all(m, take_look_locked(m, now_ms), end, out);
    pthread_mutex_unlock(&m->lock);
    return DT_OK;
}
