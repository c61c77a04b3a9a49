/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the lines of a query.
 *
 * The hot path writes head, digits, source and text of a line with 32-byte
 * copies into the output's buffer: one pass over the input, no allocation. The
 * digits are counted up in place inside the head.
 */
#include "printer.h"

#include "buf.h"
#include "colors.h"
#include "escape.h"
#include "ndjson.h"

#include <spans.h>

#include <stdlib.h>

#define WIDE 32u       /* bytes of one copy */
#define MAX_DIGITS 20u /* of a 64-bit number */
#define NEAR 1000u     /* numbers that are raised and not set */

struct printer {
    struct output *out;
    struct printer_args args;
    bool has_printed;
    bool line_open;     /* the last byte was not a newline… */
    size_t open_server; /* …and came from this server */
    struct buf escaped;
    struct buf formed; /* a line, painted or as JSON */
    struct buf line;   /* one that is to be painted */
    struct span found[SPANS_MAX];
};

struct printer_source {
    size_t server;
    uint64_t number;   /* the one that stands in head */
    char *head;        /* "REMOTE|host|100|N|source|", with room to grow and
                          WIDE readable bytes behind */
    size_t len;        /* of head */
    size_t digits_at;  /* where N stands */
    size_t nr_digits;  /* and its length */
    size_t source_len; /* of "|source|" */
    struct buf json;   /* {"server":"host","source":"name","line": */
};

int
printer_new(struct output *out, const struct printer_args *args,
            struct printer **p, struct error *err)
{
    *p = calloc(1, sizeof(**p));
    if (!*p) {
        colors_free(args->colors);
        return error_set(err, DT_ERR_NOMEM, "printer: out of memory");
    }
    (*p)->out = out;
    (*p)->args = *args;
    return DT_OK;
}

void
printer_free(struct printer *p)
{
    if (p) {
        buf_fini(&p->escaped);
        buf_fini(&p->formed);
        buf_fini(&p->line);
        colors_free(p->args.colors);
        free(p);
    }
}

struct output *
printer_output(struct printer *p)
{
    return p->out;
}

struct printer_source *
printer_source_new(size_t server, const char *host, const char *name)
{
    struct printer_source *s = calloc(1, sizeof(*s));
    struct buf head = {0};

    /* Names are shown with control bytes escaped, wherever output goes: a
     * newline in a file's name must not make a line. */
    if (!s || buf_puts(&head, "REMOTE|") != DT_OK ||
        escape_append(&head, host, strlen(host), false) != DT_OK ||
        buf_puts(&head, "|100|0|") != DT_OK) {
        goto nomem;
    }
    s->digits_at = head.len - 2;
    s->nr_digits = 1;
    if (escape_append(&head, name, strlen(name), false) != DT_OK ||
        buf_puts(&head, "|") != DT_OK ||
        buf_reserve(&head, MAX_DIGITS + WIDE) != DT_OK) {
        goto nomem;
    }
    memset(head.data + head.len, 0, MAX_DIGITS + WIDE);
    if (buf_puts(&s->json, "{") != DT_OK ||
        ndjson_member(&s->json, "server", host, strlen(host)) != DT_OK ||
        buf_puts(&s->json, ",") != DT_OK ||
        ndjson_member(&s->json, "source", name, strlen(name)) != DT_OK ||
        buf_puts(&s->json, ",\"line\":") != DT_OK) {
        goto nomem;
    }
    s->server = server;
    s->head = head.data;
    s->len = head.len;
    s->source_len = s->len - s->digits_at - 1;
    return s;
nomem:
    buf_fini(&head);
    if (s) {
        buf_fini(&s->json);
    }
    free(s);
    return NULL;
}

void
printer_source_free(struct printer_source *s)
{
    if (s) {
        free(s->head);
        buf_fini(&s->json);
        free(s);
    }
}

static void
set_number(struct printer_source *s, uint64_t number)
{
    char digits[MAX_DIGITS];
    size_t at = MAX_DIGITS;
    char *start = s->head + s->digits_at;

    s->number = number;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    size_t nr = MAX_DIGITS - at;
    if (nr != s->nr_digits) {
        memmove(start + nr, start + s->nr_digits, s->source_len);
        s->nr_digits = nr;
        s->len = s->digits_at + nr + s->source_len;
    }
    memcpy(start, digits + at, nr);
}

/* A number not much above the present one: its digits are added in place. */
static inline void
raise_number(struct printer_source *s, uint64_t number)
{
    char *digit = s->head + s->digits_at + s->nr_digits - 1;
    unsigned more = (unsigned)(number - s->number);

    for (size_t left = s->nr_digits; left && more; left--, digit--) {
        more += (unsigned)(*digit - '0');
        if (more < 10) { /* mostly the first time */
            *digit = (char)('0' + more);
            more = 0;
        } else {
            *digit = (char)('0' + more % 10);
            more /= 10;
        }
    }
    if (more) { /* one digit more */
        set_number(s, number);
    }
    s->number = number;
}

static inline void
next_number(struct printer_source *s)
{
    char *digit = s->head + s->digits_at + s->nr_digits - 1;

    if (*digit < '9') {
        ++*digit;
        s->number++;
        return;
    }
    set_number(s, s->number + 1);
}

/* Copies `len` bytes in pieces of WIDE, which read and write up to WIDE - 1
 * bytes too many. */
static inline void
copy_wide(char *to, const char *from, size_t len)
{
    for (size_t i = 0; i < len; i += WIDE) {
        memcpy(to + i, from + i, WIDE);
    }
}

/* A line that does not fit into the output's buffer. */
static int
print_long_line(struct printer *p, const struct printer_source *s,
                const char *text, size_t len, const struct cancel *cancel)
{
    int rc = output_write(p->out, s->head, s->len, cancel);

    if (rc == DT_OK) {
        rc = output_write(p->out, text, len, cancel);
    }
    return rc == DT_OK ? output_write(p->out, "\n", 1, cancel) : rc;
}

/* Lines with their heads. The last may lack its newline; it gets one. */
static int
print_headed(struct printer *p, struct printer_source *s, const char *data,
             size_t len, const struct cancel *cancel)
{
    const char *end = data + len;
    /* Behind this point a wide copy might read past the data. */
    const char *wide_end = len > WIDE ? end - WIDE : data;

    while (data < end) {
        const char *nl = memchr(data, '\n', (size_t)(end - data));
        size_t text_len = (size_t)((nl ? nl : end) - data);
        size_t need = s->len + text_len + 1;
        char *to;
        int rc;

        if (need > OUTPUT_BUFFER) {
            rc = print_long_line(p, s, data, text_len, cancel);
        } else {
            rc = output_reserve(p->out, need, cancel, &to);
        }
        if (rc != DT_OK) {
            return rc;
        }
        if (need <= OUTPUT_BUFFER) {
            copy_wide(to, s->head, s->len);
            to += s->len;
            if (data + text_len <= wide_end) {
                copy_wide(to, data, text_len);
            } else {
                memcpy(to, data, text_len);
            }
            to[text_len] = '\n';
            output_commit(p->out, need);
        }
        next_number(s);
        data += text_len + 1;
    }
    return DT_OK;
}

/* Bytes as they are. A line that another server left open is ended first. */
static int
print_plain(struct printer *p, size_t server, const char *data, size_t len,
            const struct cancel *cancel)
{
    bool open = data[len - 1] != '\n';
    int rc = DT_OK;

    if (p->line_open && server != p->open_server) {
        rc = output_write(p->out, "\n", 1, cancel);
    }
    if (rc == DT_OK) {
        rc = output_write(p->out, data, len, cancel);
    }
    if (rc == DT_OK && open && p->args.line_end) {
        rc = output_write(p->out, "\n", 1, cancel);
        open = false;
    }
    p->line_open = open;
    p->open_server = server;
    return rc;
}

static int
form_json(struct printer *p, const struct printer_source *s, const char *text,
          size_t len)
{
    struct buf *out = &p->formed;
    int rc = buf_append(out, s->json.data, s->json.len);

    if (rc == DT_OK) {
        rc = buf_append(out, s->head + s->digits_at, s->nr_digits);
    }
    if (rc == DT_OK) {
        rc = buf_puts(out, ",");
    }
    if (rc == DT_OK) {
        rc = ndjson_member(out, "text", text, len);
    }
    return rc == DT_OK ? buf_puts(out, "}\n") : rc;
}

/* Appends a piece of a line's text to p->line, escaped if need be. */
static int
add_piece(struct printer *p, const char *text, size_t len)
{
    return p->args.escape ? escape_append(&p->line, text, len, false)
                          : buf_append(&p->line, text, len);
}

/* Appends the text to p->line; the places that were found in it move along. */
static int
add_text(struct printer *p, const char *text, size_t len, size_t nr_found)
{
    size_t at = 0;
    int rc = DT_OK;

    for (size_t i = 0; rc == DT_OK && i < nr_found; i++) {
        struct span *found = &p->found[i];
        size_t end = found->end;

        rc = add_piece(p, text + at, found->start - at);
        at = found->start;
        found->start = p->line.len;
        if (rc == DT_OK) {
            rc = add_piece(p, text + at, end - at);
        }
        at = end;
        found->end = p->line.len;
    }
    return rc == DT_OK ? add_piece(p, text + at, len - at) : rc;
}

/* `has_end`: a newline follows; a CR in front of it stays what it is. */
static int
form_painted(struct printer *p, const struct printer_source *s,
             const char *text, size_t len, bool has_end)
{
    size_t nr = spans_find(p->args.spans, text, len, p->found);
    bool has_cr = has_end && len && text[len - 1] == '\r';
    int rc;

    p->line.len = 0;
    rc = buf_append(&p->line, s->head, s->len);
    if (rc == DT_OK) {
        rc = add_text(p, text, len - has_cr, nr);
    }
    if (rc == DT_OK && has_cr) {
        rc = buf_puts(&p->line, "\r");
    }
    if (rc == DT_OK) {
        rc = colors_paint_remote(p->args.colors, p->line.data, p->line.len,
                                 p->found, nr, &p->formed);
    }
    buf_shrink(&p->line, OUTPUT_BUFFER);
    return rc == DT_OK ? buf_puts(&p->formed, "\n") : rc;
}

/* Lines that are neither plain nor headed: speed matters less. */
static int
print_formed(struct printer *p, struct printer_source *s, const char *data,
             size_t len, const struct cancel *cancel)
{
    const char *end = data + len;
    int rc = DT_OK;

    while (rc == DT_OK && data < end) {
        const char *nl = memchr(data, '\n', (size_t)(end - data));
        size_t text_len = (size_t)((nl ? nl : end) - data);

        p->formed.len = 0;
        rc = p->args.ndjson ? form_json(p, s, data, text_len)
                            : form_painted(p, s, data, text_len, nl != NULL);
        if (rc == DT_OK) {
            rc = output_write(p->out, p->formed.data, p->formed.len, cancel);
        }
        next_number(s);
        data += text_len + 1;
    }
    buf_shrink(&p->formed, OUTPUT_BUFFER);
    return rc;
}

static bool
is_painted(const struct printer *p)
{
    return p->args.colors && !p->args.plain;
}

static int
print(struct printer *p, struct printer_source *s, const char *data, size_t len,
      const struct cancel *cancel)
{
    if (p->args.ndjson || is_painted(p)) {
        return print_formed(p, s, data, len, cancel);
    }
    if (!p->args.plain) {
        return print_headed(p, s, data, len, cancel);
    }
    return print_plain(p, s->server, data, len, cancel);
}

int
printer_lines(struct printer *p, struct printer_source *s, const char *data,
              size_t len, uint64_t first_line, const struct cancel *cancel)
{
    if (first_line != PRINTER_CONTINUE && first_line != s->number) {
        if (first_line > s->number && first_line - s->number < NEAR) {
            raise_number(s, first_line);
        } else {
            set_number(s, first_line);
        }
    }
    if (len == 0) {
        return DT_OK;
    }
    p->has_printed = true;
    /* painted lines are escaped where the places of matches are known */
    if (!p->args.escape || p->args.ndjson || is_painted(p)) {
        return print(p, s, data, len, cancel);
    }
    p->escaped.len = 0;
    if (escape_append(&p->escaped, data, len, true) != DT_OK) {
        return DT_ERR_NOMEM;
    }
    return print(p, s, p->escaped.data, p->escaped.len, cancel);
}

/* Whole lines "host:name:count": is any count above 0? */
static bool
has_count(const char *data, size_t len)
{
    const char *end = data + len, *nl;

    for (; data < end; data = nl + 1) {
        nl = memchr(data, '\n', (size_t)(end - data));
        nl = nl ? nl : end;
        if (nl - data < 2 || memcmp(nl - 2, ":0", 2) != 0) {
            return true;
        }
    }
    return false;
}

int
printer_text(struct printer *p, const char *data, size_t len,
             const struct cancel *cancel)
{
    if (len == 0) {
        return DT_OK;
    }
    p->has_printed = p->has_printed || !p->args.counts || has_count(data, len);
    if (p->args.escape) {
        p->escaped.len = 0;
        if (escape_append(&p->escaped, data, len, true) != DT_OK) {
            return DT_ERR_NOMEM;
        }
        data = p->escaped.data;
        len = p->escaped.len;
    }
    return output_write(p->out, data, len, cancel);
}

int
printer_sequences(struct printer *p, const char *data, size_t len,
                  const struct cancel *cancel)
{
    p->has_printed = p->has_printed || len;
    return output_write(p->out, data, len, cancel);
}

void
printer_show(struct printer *p, struct spans *spans)
{
    p->args.spans = spans;
}

int
printer_flush(struct printer *p, const struct cancel *cancel)
{
    return output_flush(p->out, cancel);
}

bool
printer_has_printed(const struct printer *p)
{
    return p->has_printed;
}
