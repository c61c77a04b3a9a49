/* SPDX-License-Identifier: Apache-2.0
 *
 * What the log formats share: the list, the selection of lines, rows, keys.
 */
#include "logformat.h"

#include "bytes.h"

#include <stdlib.h>

#define SAMPLE 64u /* lines whose names are collected */

static const struct logformat_ops *const formats[] = {
    &logformat_default, &logformat_generic, &logformat_generickv,
    &logformat_csv,     &logformat_rfc4180, &logformat_json,
    &logformat_logfmt,  &logformat_regex};

const char *
logformat_reject_text(enum logformat_reject r)
{
    static const char *const texts[REJECT_NR] = {
        "a token without '='",
        "more fields than header values",
        "not a JSON object",
        "a quote that does not end or stands in the wrong place",
        "not matched by the pattern of the log format",
        "too expensive for the pattern",
        "a record beyond the limit of 1 MiB"};

    return texts[r];
}

const struct logformat_ops *
logformat_find(struct str name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (str_is(name, formats[i]->name)) {
            return formats[i];
        }
    }
    return NULL;
}

const char *
logformat_fallback(struct str name, char *text, size_t size)
{
    static const char lead[] = "Could not create log format parser. Falling "
                               "back to 'generic'|";

    if (logformat_find(name)) {
        return NULL;
    }
    if (str_is(name, "custom1") || str_is(name, "custom2")) {
        snprintf(text, size, "%s%.*s log format is not implemented", lead,
                 (int)name.n, name.p);
    } else if (str_is(name, "mimecast") || str_is(name, "mimecastgeneric")) {
        snprintf(text, size,
                 "%sThe mimecast logformat is not available in this build of "
                 "DTail",
                 lead);
    } else {
        snprintf(text, size, "%sNo '%.*s' mapr log format", lead,
                 (int)(name.n < 100 ? name.n : 100), name.p);
    }
    return text;
}

static int
open_select(struct logformat *f, char *err, size_t err_size)
{
    struct str table = f->plan->q->table;
    struct text pattern = {0};
    struct str s;
    int status;

    if (table.n == 0 || str_is(table, ".")) {
        f->select = SELECT_ALL;
        return DT_OK;
    }
    if (str_is(table, "*")) {
        f->select = SELECT_ANY;
        return DT_OK;
    }
    language_table_pattern(f->plan->q, &pattern);
    if (pattern.failed) {
        return DT_ERR_NOMEM;
    }
    if (!memmem(pattern.data, pattern.len, "(?:", 3)) {
        f->select = SELECT_LITERAL;
        text_puts(&f->needle, "|MAPREDUCE:");
        text_str(&f->needle, table);
        text_char(&f->needle, '|');
        text_fini(&pattern);
        return f->needle.failed ? DT_ERR_NOMEM : DT_OK;
    }
    f->select = SELECT_PATTERN;
    s.p = pattern.data;
    s.n = pattern.len;
    status = linepattern_new(s, false, &f->pattern, err, err_size);
    text_fini(&pattern);
    return status;
}

static void
set_constant(struct logformat *f, const char *name, struct str value)
{
    uint32_t slot = plan_slot(f->plan, str_of(name));

    if (slot != PLAN_NONE) {
        f->constants[slot] = value;
        if (!f->seen[slot]) {
            f->seen[slot] = 1;
            f->nr_unseen--;
        }
    }
}

/* A field that only `set` makes, or whose name is a text for `set`, is not
 * missed. */
static void
excuse_sets(struct logformat *f)
{
    const struct plan *p = f->plan;

    for (size_t i = 0; i < p->q->nr_sets; i++) {
        uint32_t slots[2] = {p->sets[i].target, p->sets[i].arg};
        bool computed = p->sets[i].set->is_implied;

        for (int j = 0; j < (computed ? 1 : 2); j++) {
            if (!f->seen[slots[j]]) {
                f->seen[slots[j]] = 1;
                f->nr_unseen--;
            }
        }
    }
}

int
logformat_open(struct logformat *f, struct plan_run *run,
               const struct logformat_machine *machine, char *err,
               size_t err_size)
{
    size_t nr = run->plan->nr_slots;
    int status;

    f->plan = run->plan;
    f->run = run;
    f->find = delimiters_choose();
    f->constants = calloc(nr + 1, sizeof(*f->constants));
    f->seen = calloc(nr + 1, 1);
    f->nr_unseen = (uint32_t)nr;
    f->sample_left = SAMPLE;
    if (!f->constants || !f->seen) {
        return DT_ERR_NOMEM;
    }
    f->line_slot = plan_slot(f->plan, str_of("$line"));
    set_constant(f, "*", str_of("*"));
    set_constant(f, "$line", str_of(""));
    set_constant(f, "$empty", str_of(""));
    set_constant(f, "$hostname", machine->hostname);
    set_constant(f, "$server", machine->hostname);
    set_constant(f, "$timezone", machine->timezone);
    set_constant(f, "$timeoffset", machine->timeoffset);
    excuse_sets(f);
    status = open_select(f, err, err_size);
    if (status < 0) {
        return status;
    }
    return f->ops->open ? f->ops->open(f, err, err_size) : DT_OK;
}

void
logformat_close(struct logformat *f)
{
    if (f->ops && f->ops->close && f->state) {
        f->ops->close(f);
    }
    linepattern_free(f->pattern);
    delimiters_fini(&f->delimiters);
    text_fini(&f->needle);
    free(f->constants);
    free(f->seen);
    memset(f, 0, sizeof(*f));
}

/* |MAPREDUCE:[^|]*| */
static bool
has_any_table(struct str raw)
{
    static const char lead[] = "|MAPREDUCE:";
    size_t n = sizeof(lead) - 1;
    const char *at = raw.n ? memmem(raw.p, raw.n, lead, n) : NULL;

    return at && memchr(at + n, '|', (size_t)(raw.p + raw.n - at) - n);
}

bool
logformat_selects(struct logformat *f, struct str raw)
{
    bool found = true;

    if (f->is_passed) {
        return true; /* counted then */
    }
    f->stats.lines++;
    switch (f->select) {
    case SELECT_ALL:
        break;
    case SELECT_LITERAL:
        found = raw.n >= f->needle.len &&
                memmem(raw.p, raw.n, f->needle.data, f->needle.len);
        break;
    case SELECT_ANY:
        found = has_any_table(raw);
        break;
    case SELECT_PATTERN: {
        enum linepattern_result r =
            linepattern_match(f->pattern, raw, &f->run->scratch);

        if (r == LINEPATTERN_LIMIT || r == LINEPATTERN_NOMEM) {
            f->stats.rejects[REJECT_EXPENSIVE]++;
            return false;
        }
        found = r == LINEPATTERN_YES;
        break;
    }
    }
    found = found != f->is_inverted;
    f->stats.selected += found;
    return found;
}

static void
note_seen(struct logformat *f)
{
    for (uint32_t i = 0; i < f->plan->nr_slots; i++) {
        if (!f->seen[i] && f->run->row.values[i].p) {
            f->seen[i] = 1;
            f->nr_unseen--;
        }
    }
}

int
logformat_row(struct logformat *f, const struct dt_block *b, size_t offset,
              struct str line)
{
    struct row *row = &f->run->row;

    if (f->line_slot != PLAN_NONE &&
        row->values[f->line_slot].p == f->constants[f->line_slot].p) {
        row->values[f->line_slot] = line;
    }
    if (f->nr_unseen) {
        note_seen(f);
    }
    if (f->sample_left) {
        f->sample_left--;
    }
    row->place.sequence = b->sequence;
    row->place.offset =
        (b->offset + offset) & (((uint64_t)1 << GROUPS_OFFSET_BITS) - 1);
    return plan_row(f->run);
}

int
logformat_each_line(struct logformat *f, const struct dt_block *b,
                    logformat_line_fn *row)
{
    const char *p = b->data, *end = b->data + b->len;

    while (p < end) {
        const char *nl = bytes_find_newline(p, end);
        struct str raw = {p, (size_t)((nl ? nl : end) - p)};

        if (logformat_selects(f, raw)) {
            int status = row(f, b, (size_t)(p - b->data), logformat_trim(raw));

            if (status < 0) {
                return status;
            }
        }
        p = nl ? nl + 1 : end;
    }
    return DT_OK;
}

int
keys_make(struct keys *k, const struct plan *p)
{
    memset(k, 0, sizeof(*k));
    memset(k->first, 0xff, sizeof(k->first));
    k->v = calloc(p->nr_slots + 1, sizeof(*k->v));
    if (!k->v) {
        return DT_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < p->nr_slots; i++) {
        struct keys_key *key = &k->v[i];
        size_t n = p->names[i].n, at = n < 63 ? n : 63;

        key->next = PLAN_NONE;
        if (n == 0) {
            continue; /* a field without a name cannot be meant */
        }
        key->name = p->names[i];
        key->slot = i;
        memcpy(key->head, key->name.p, n < 16 ? n : 16);
        key->next = k->first[at];
        k->first[at] = i;
        k->lengths |= (uint64_t)1 << at;
    }
    return DT_OK;
}

void
keys_fini(struct keys *k)
{
    free(k->v);
    memset(k, 0, sizeof(*k));
}

uint32_t
keys_find_slow(const struct keys *k, const char *p, size_t n)
{
    uint32_t i = k->first[n < 63 ? n : 63];

    for (; i != PLAN_NONE; i = k->v[i].next) {
        if (k->v[i].name.n == n && memcmp(k->v[i].name.p, p, n) == 0) {
            return k->v[i].slot;
        }
    }
    return PLAN_NONE;
}
