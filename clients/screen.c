/* SPDX-License-Identifier: Apache-2.0
 *
 * Results on a terminal that replace each other.
 */
#include "screen.h"

#include "log.h"

#include <locale.h>
#include <stdlib.h>
#include <wchar.h>

struct screen {
    struct printer *printer;
    const struct log *log;
    locale_t locale; /* knows how wide characters are; 0: none */

    bool is_open;      /* a result is being written */
    bool has_shown;    /* there is a last one */
    size_t width;      /* columns when it was written; 0: unknown */
    size_t rows;       /* that it takes */
    size_t widest;     /* columns of its longest line */
    size_t column;     /* of the line that is being written */
    bool is_sequence;  /* inside of an escape sequence */
    uint64_t touched;  /* the log's lines before it, … */
    uint64_t nr_bytes; /* … the output's bytes behind it */
};

struct screen *
screen_new(struct printer *p, const struct log *log)
{
    struct screen *s = calloc(1, sizeof(*s));

    if (s) {
        s->printer = p;
        s->log = log;
        s->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    }
    return s;
}

void
screen_free(struct screen *s)
{
    if (s) {
        if (s->locale) {
            freelocale(s->locale);
        }
        free(s);
    }
}

/* Is the last result still in its rows, the cursor below it? */
static bool
is_in_place(const struct screen *s, size_t width, size_t height)
{
    size_t narrow = width < s->width ? width : s->width;

    return s->rows && s->rows < height && s->touched == log_touched(s->log) &&
           s->nr_bytes == output_bytes(printer_output(s->printer)) &&
           (width == s->width || s->widest <= narrow);
}

/* Puts the cursor to where the result begins. */
static int
begin(struct screen *s, const struct cancel *cancel)
{
    char lead[48] = "";
    size_t width, height;

    output_size(printer_output(s->printer), &width, &height);
    if (s->has_shown && is_in_place(s, width, height)) {
        snprintf(lead, sizeof(lead), "\033[%zuA\r\033[J", s->rows);
    } else if (s->has_shown) {
        snprintf(lead, sizeof(lead), "\r\033[K"); /* where "^C" may stand */
    }
    s->is_open = true;
    s->width = width;
    s->rows = s->widest = s->column = 0;
    s->is_sequence = false;
    s->touched = log_touched(s->log);
    return printer_sequences(s->printer, lead, strlen(lead), cancel);
}

static void
end_line(struct screen *s)
{
    size_t width = s->width ? s->width : SIZE_MAX;

    s->rows += s->column > width ? (s->column + width - 1) / width : 1;
    s->widest = s->column > s->widest ? s->column : s->widest;
    s->column = 0;
}

/* The character at `at`: its bytes. What is none counts as one column. */
static size_t
measure_char(struct screen *s, const char *at, size_t left)
{
    mbstate_t state = {0};
    wchar_t c;
    size_t len = mbrtowc(&c, at, left, &state);
    int columns = 1;

    if (len == 0 || len > left) {
        len = 1;
    } else {
        columns = wcwidth(c);
    }
    s->column += columns < 0 ? 1 : (size_t)columns;
    return len;
}

static void
measure(struct screen *s, const char *data, size_t len)
{
    locale_t before = s->locale ? uselocale(s->locale) : (locale_t)0;

    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)data[i];

        if (s->is_sequence) {
            /* ESC [ parameters, then one byte from @ to ~ */
            s->is_sequence = c == '[' || c < '@' || c > '~';
            i++;
        } else if (c == '\033') {
            s->is_sequence = true;
            i++;
        } else if (c == '\n') {
            end_line(s);
            i++;
        } else {
            i += measure_char(s, data + i, len - i);
        }
    }
    if (before) {
        uselocale(before);
    }
}

int
screen_add(struct screen *s, const char *data, size_t len,
           const struct cancel *cancel)
{
    int rc = s->is_open ? DT_OK : begin(s, cancel);

    if (rc == DT_OK) {
        measure(s, data, len);
        rc = printer_sequences(s->printer, data, len, cancel);
    }
    return rc;
}

void
screen_commit(struct screen *s)
{
    if (!s->is_open) {
        return; /* nothing has changed */
    }
    s->is_open = false;
    s->has_shown = true;
    s->nr_bytes = output_bytes(printer_output(s->printer));
    if (s->column) {
        s->rows = 0; /* the cursor is not below it */
    }
}
