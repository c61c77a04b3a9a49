/* SPDX-License-Identifier: Apache-2.0
 *
 * What the user is told beside the result.
 */
#include "notes.h"

static void
tell_rejects(struct dt_query *host, const struct partial_stats *s)
{
    for (int i = 0; i < REJECT_NR; i++) {
        if (s->lines.rejects[i]) {
            dt_note(host, "%llu of %llu selected lines were dropped: %s",
                    (unsigned long long)s->lines.rejects[i],
                    (unsigned long long)s->lines.selected,
                    logformat_reject_text((enum logformat_reject)i));
        }
    }
}

static void
tell_numbers(struct dt_query *host, const struct plan *p,
             const struct partial_stats *s)
{
    for (uint32_t i = 0; i < p->layout.nr; i++) {
        bool told = false;
        struct str name = p->names[p->accs[i].slot];

        for (uint32_t j = 0; j < i; j++) {
            told = told ||
                   (p->accs[j].slot == p->accs[i].slot && s->not_numbers[j]);
        }
        if (s->not_numbers[i] && !told) {
            dt_note(host,
                    "%llu values of %.*s are not numbers and were left "
                    "out",
                    (unsigned long long)s->not_numbers[i],
                    (int)(name.n < 200 ? name.n : 200), name.p);
        }
    }
}

static void
tell_unseen(struct dt_query *host, const struct plan *p,
            const struct partial_stats *s)
{
    if (s->lines.selected == 0) {
        return;
    }
    for (uint32_t i = 0; i < p->nr_slots; i++) {
        struct str name = p->names[i];
        struct text near = {0};

        if (s->seen[i] || name.n == 0) {
            continue;
        }
        if (hints_near(s->hints, name, &near) && !near.failed) {
            dt_note(host, "the field %.*s was on no line; did you mean %.*s?",
                    (int)(name.n < 200 ? name.n : 200), name.p, (int)near.len,
                    near.data);
        } else {
            dt_note(host, "the field %.*s was on no line",
                    (int)(name.n < 200 ? name.n : 200), name.p);
        }
        text_fini(&near);
    }
}

void
notes_tell(struct dt_query *host, const struct plan *p,
           const struct partial_sink *s)
{
    const struct partial_stats *st = &s->stats;

    if (st->note.len) {
        dt_note(host, "%.*s", (int)st->note.len, st->note.data);
    }
    if (st->lines.lines && st->lines.selected == 0 && p->q->table.n) {
        dt_note(host, "none of %llu lines is of the table %.*s",
                (unsigned long long)st->lines.lines,
                (int)(p->q->table.n < 200 ? p->q->table.n : 200),
                p->q->table.p);
    }
    if (st->lines.ignored) {
        dt_note(host,
                "%llu of %llu selected lines are of another format and "
                "were ignored",
                (unsigned long long)st->lines.ignored,
                (unsigned long long)st->lines.selected);
    }
    tell_rejects(host, st);
    tell_numbers(host, p, st);
    tell_unseen(host, p, st);
    if (s->groups.other) {
        dt_note(host,
                "more groups than memory allows: %llu rows are in \"(other)\" "
                "(budget of an instance: %zu MiB). Sums over all rows are "
                "exact; a single row may lack what is in \"(other)\"",
                (unsigned long long)s->groups.other->samples,
                s->groups.budget >> 20);
    }
}
