/* SPDX-License-Identifier: Apache-2.0
 *
 * The bottom of the chain of a source that is the journal of a unit: the text
 * of all its entries.
 */
#include "source-decoder.h"

#include "journal.h"

#include <stdlib.h>

#define AT_ONCE (64u * 1024u) /* text that is made ahead */

struct decoder_journal {
    struct decoder base;
    struct journal *journal;
    struct buf text;
    size_t pos; /* of the text, given out */
    bool is_end;
};

/* Makes text until there is enough, or no entry is left. */
static int
make_text(struct decoder_journal *d, struct error *err)
{
    int rc = DT_OK;

    while (rc == DT_OK && d->text.len < AT_ONCE) {
        rc = journal_next(d->journal, &d->text, err);
    }
    d->is_end = rc == DT_STOP;
    return rc == DT_STOP ? DT_OK : rc;
}

static ssize_t
journal_read(struct decoder *base, void *data, size_t cap, int cancel_fd,
             struct error *err)
{
    struct decoder_journal *d = (struct decoder_journal *)base;
    size_t n;

    (void)cancel_fd; /* nothing is waited for */
    if (d->pos == d->text.len && !d->is_end) {
        int rc;

        d->pos = d->text.len = 0;
        buf_shrink(&d->text, 2 * AT_ONCE);
        rc = make_text(d, err);
        if (rc != DT_OK) {
            return rc;
        }
    }
    n = d->text.len - d->pos < cap ? d->text.len - d->pos : cap;
    if (n > 0) {
        memcpy(data, d->text.data + d->pos, n);
        d->pos += n;
    }
    return (ssize_t)n;
}

static void
journal_free(struct decoder *base)
{
    struct decoder_journal *d = (struct decoder_journal *)base;

    journal_close(d->journal);
    buf_fini(&d->text);
    free(d);
}

int
decoder_journal_new(const struct journal_args *args, struct decoder **out,
                    struct error *err)
{
    struct decoder_journal *d = calloc(1, sizeof(*d));
    int rc = d ? journal_open(args, &d->journal, err)
               : error_set(err, DT_ERR_NOMEM, "out of memory");

    if (rc == DT_OK) {
        d->base.read = journal_read;
        d->base.close = journal_free;
        rc = make_text(d, err);
    }
    if (rc == DT_OK && d->text.len == 0) {
        rc = journal_set_empty(d->journal, err);
    }
    if (rc != DT_OK) {
        if (d) {
            journal_free(&d->base);
        }
        return rc;
    }
    *out = &d->base;
    return DT_OK;
}
