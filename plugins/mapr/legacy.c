/* SPDX-License-Identifier: Apache-2.0
 *
 * Aggregates as DTail 4 sends them.
 */
#include "legacy.h"

#include <math.h>
#include <stdlib.h>

#define BETWEEN "\xe2\x88\xa5" /* ∥ */
#define EQUALS "\xe2\x89\x94"  /* ≔ */
#define MARK 3u                /* bytes of each */
#define REPLACEMENT "\xef\xbf\xbd"

/* ---- writing ---- */

/* Byte AC ends a message there, wherever it stands; newlines are dropped. */
static void
put_clean(struct text *out, struct str s)
{
    for (size_t i = 0; i < s.n;) {
        size_t n = str_utf8_at(s.p + i, s.n - i);
        bool bad = s.p[i] == '\n' || (unsigned char)s.p[i] == 0xac;

        n = n ? n : 1;
        bad = bad || (n > 1 && memchr(s.p + i, 0xac, n)) ||
              (n == MARK && (memcmp(s.p + i, BETWEEN, MARK) == 0 ||
                             memcmp(s.p + i, EQUALS, MARK) == 0));
        if (bad) {
            text_puts(out, REPLACEMENT);
        } else {
            text_add(out, s.p + i, n);
        }
        i += n;
    }
}

/* The shortest digits that read back as the same double, never with an
 * exponent. */
static void
put_number(struct text *out, double v)
{
    char digits[40], *point, *e;
    int exponent = 0, precision = 0;
    size_t nr;

    if (isnan(v) || isinf(v)) {
        numbers_format(out, v);
        return;
    }
    for (; precision < 17; precision++) {
        struct number x;

        snprintf(digits, sizeof(digits), "%.*e", precision, fabs(v));
        if (precision > 0) {
            digits[1] = '.'; /* whatever the locale says */
        }
        if (numbers_parse(digits, strlen(digits), &x) == NUMBERS_OK &&
            numbers_value(&x) == fabs(v)) {
            break;
        }
    }
    e = strchr(digits, 'e');
    exponent = atoi(e + 1);
    *e = '\0';
    point = digits + 1; /* d.ddd to dddd */
    if (*point) {
        memmove(point, point + 1, strlen(point));
    }
    nr = strlen(digits);
    text_puts(out, signbit(v) ? "-" : "");
    if (exponent < 0) {
        text_puts(out, "0.");
        text_repeat(out, '0', (size_t)(-exponent - 1));
        text_puts(out, digits);
        return;
    }
    for (size_t i = 0; i < nr || i <= (size_t)exponent; i++) {
        if (i == (size_t)exponent + 1) {
            text_char(out, '.');
        }
        text_char(out, i < nr ? digits[i] : '0');
    }
}

static void
put_pair(struct text *out, struct str name, const double *number,
         const struct str *text)
{
    text_str(out, name);
    text_puts(out, EQUALS);
    if (number) {
        put_number(out, *number);
    } else {
        put_clean(out, *text);
    }
    text_puts(out, BETWEEN);
}

static void
put_item(const struct plan *p, struct group *group, size_t i, struct text *out)
{
    const struct language_item *item = &p->q->items[i];
    uint32_t acc = p->items[i].acc;
    uint8_t flags = acc == PLAN_NONE ? 0 : groups_flags(&p->layout, group)[acc];
    const void *v =
        acc == PLAN_NONE ? NULL : groups_acc(&p->layout, group, acc);
    struct str text = groups_key(&p->layout, group);
    double number = 0;

    if (acc == PLAN_NONE) {
        put_pair(out, item->name, NULL, &text);
        return;
    }
    if (!(flags & GROUPS_SEEN)) {
        return;
    }
    switch (p->layout.accs[acc].kind) {
    case ACC_COUNT:
        number = (double)*(const uint64_t *)v;
        break;
    case ACC_SUM:
        number = sums_value(v, flags);
        break;
    case ACC_MIN:
    case ACC_MAX:
        number = flags & GROUPS_FIRST_NAN
                     ? NAN
                     : ((const struct groups_extreme *)v)->value;
        break;
    case ACC_TEXT:
        text.p = ((const struct groups_text *)v)->p;
        text.n = ((const struct groups_text *)v)->n;
        number = (double)text.n;
        if (item->func == FUNC_LEN) { /* the number, then the text */
            put_pair(out, item->name, &number, NULL);
        }
        put_pair(out, item->name, NULL, &text);
        return;
    case ACC_DISTINCT: /* language_extension: not asked of old peers */
    case ACC_SKETCH:
        return;
    }
    put_pair(out, item->name, &number, NULL);
}

static bool
is_repeated(const struct language_query *q, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (str_equal(q->items[j].name, q->items[i].name)) {
            return true;
        }
    }
    return false;
}

void
legacy_write(const struct plan *p, const struct groups *groups,
             struct text *out)
{
    struct groups_walk walk = {0, 0};
    struct group *group;

    while ((group = groups_next(groups, &walk)) != NULL) {
        put_clean(out, groups_key(&p->layout, group));
        text_puts(out, BETWEEN);
        numbers_format_u64(out, group->samples);
        text_puts(out, BETWEEN);
        for (size_t i = 0; i < p->q->nr_items; i++) {
            if (!is_repeated(p->q, i)) {
                put_item(p, group, i, out);
            }
        }
        text_char(out, '\n');
    }
}

/* ---- reading ---- */

/* Cuts off what stands before the next ∥. False: there is none. */
static bool
next_part(struct str *rest, struct str *part)
{
    const char *mark = rest->n ? memmem(rest->p, rest->n, BETWEEN, MARK) : NULL;

    *part = *rest;
    if (!mark) {
        return false;
    }
    part->n = (size_t)(mark - part->p);
    rest->p = mark + MARK;
    rest->n -= part->n + MARK;
    return true;
}

struct message {
    struct partial_sink *sink;
    struct group *group;
    struct groups_place place;
    uint8_t *done;     /* by accumulator: it has its value */
    struct str *texts; /* by accumulator: of ACC_TEXT, to be stored last */
    bool any;
};

static bool
take_number(struct message *m, uint32_t acc, struct str value)
{
    const struct groups_layout *l = &m->sink->plan->layout;
    uint8_t *flags = &groups_flags(l, m->group)[acc];
    void *v = groups_acc(l, m->group, acc);
    bool is_max = l->accs[acc].kind == ACC_MAX;
    struct groups_extreme *e = v;
    struct number x;
    double d;

    if (m->done[acc] || numbers_parse(value.p, value.n, &x) != NUMBERS_OK) {
        return true;
    }
    d = numbers_value(&x);
    m->done[acc] = 1;
    m->any = true;
    switch (l->accs[acc].kind) {
    case ACC_COUNT:
        *(uint64_t *)v += d >= 0 && d < 9e18 ? (uint64_t)d : 0;
        break;
    case ACC_SUM:
        if (!sums_add(v, flags, &x, &m->sink->groups.blobs)) {
            return false;
        }
        break;
    case ACC_MIN:
    case ACC_MAX:
        if (!(*flags & GROUPS_SEEN)) {
            e->value = d;
            e->first = m->place;
            *flags |= isnan(d) ? GROUPS_FIRST_NAN : 0;
        } else if (!isnan(d)) {
            groups_take_extreme(e, is_max, d);
        }
        break;
    default:
        break;
    }
    *flags |= GROUPS_SEEN;
    return true;
}

static bool
take_pair(struct message *m, struct str pair)
{
    const struct plan *p = m->sink->plan;
    const char *mark = pair.n ? memmem(pair.p, pair.n, EQUALS, MARK) : NULL;
    struct str name = {pair.p, mark ? (size_t)(mark - pair.p) : 0}, value;

    if (!mark) {
        return true;
    }
    value.p = mark + MARK;
    value.n = pair.n - name.n - MARK;
    for (size_t i = 0; i < p->q->nr_items; i++) {
        uint32_t acc = p->items[i].acc;

        if (!str_equal(p->q->items[i].name, name)) {
            continue;
        }
        if (acc == PLAN_NONE) {
            m->any = true;
        } else if (p->layout.accs[acc].kind == ACC_TEXT) {
            m->any = true;
            /* of `len` the later pair; of `last` and `len` the former's */
            if (p->q->items[i].func == FUNC_LAST || !m->done[acc]) {
                m->texts[acc] = value;
                m->done[acc] = p->q->items[i].func == FUNC_LAST;
            }
        } else {
            return take_number(m, acc, value);
        }
        return true;
    }
    return true;
}

/* "The later message wins": of one server; between servers the name decides,
 * so that the order of arrival does not. */
static bool
store_texts(struct message *m)
{
    const struct groups_layout *l = &m->sink->plan->layout;
    const struct partial_hosts *hosts = &m->sink->hosts;
    uint8_t *flags = groups_flags(l, m->group);

    for (uint32_t i = 0; i < l->nr; i++) {
        struct groups_text *t;
        char *own;

        if (l->accs[i].kind != ACC_TEXT || !m->texts[i].p) {
            continue;
        }
        t = groups_acc(l, m->group, i);
        if ((flags[i] & GROUPS_SEEN) && t->at.host != m->place.host &&
            str_compare(hosts->names[m->place.host], hosts->names[t->at.host]) <
                0) {
            continue;
        }
        own = (char *)(uintptr_t)t->p;
        t->at = m->place;
        t->p = m->texts[i].p;
        t->n = (uint32_t)(m->texts[i].n < GROUPS_MAX_TEXT ? m->texts[i].n
                                                          : GROUPS_MAX_TEXT);
        if (!groups_own_text(&m->sink->groups, t, own)) {
            return false;
        }
        flags[i] |= GROUPS_SEEN;
    }
    return true;
}

static int
take_message(struct message *m, struct str key, uint64_t samples,
             struct str rest)
{
    struct str part;
    bool more = true;

    m->group = groups_take(&m->sink->groups, key.p, key.n);
    if (!m->group) {
        return DT_ERR_NOMEM;
    }
    while (more) {
        more = next_part(&rest, &part);
        if (!take_pair(m, part)) {
            return DT_ERR_NOMEM;
        }
    }
    if (m->any) {
        m->group->samples += samples;
    }
    return store_texts(m) ? DT_OK : DT_ERR_NOMEM;
}

int
legacy_read(struct partial_sink *s, const void *data, size_t len,
            uint64_t sequence)
{
    struct str rest = {data, len}, host, key, samples;
    struct message m = {.sink = s};
    size_t lead = strlen(LEGACY_PREFIX);
    const char *bar;
    uint32_t index;
    int64_t nr;
    int status = DT_ERR_NOMEM;

    rest.p += lead;
    rest.n -= lead;
    bar = rest.n ? memchr(rest.p, '|', rest.n) : NULL;
    if (!bar) {
        return DT_OK;
    }
    host.p = rest.p;
    host.n = (size_t)(bar - rest.p);
    rest.n -= host.n + 1;
    rest.p = bar + 1;
    if (!next_part(&rest, &key) || !next_part(&rest, &samples) ||
        !memmem(rest.p, rest.n, BETWEEN, MARK) ||
        numbers_parse_int(samples, &nr) != NUMBERS_OK || nr < 0) {
        return DT_OK;
    }
    index = partial_host(&s->hosts, host);
    m.done = calloc(s->plan->layout.nr + 1, sizeof(*m.done));
    m.texts = calloc(s->plan->layout.nr + 1, sizeof(*m.texts));
    if (index != PLAN_NONE && m.done && m.texts) {
        m.place.host = index & ((1u << GROUPS_HOST_BITS) - 1);
        m.place.sequence = sequence;
        status = take_message(&m, key, (uint64_t)nr, rest);
    }
    free(m.done);
    free(m.texts);
    return status;
}
