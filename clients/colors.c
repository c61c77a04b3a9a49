/* SPDX-License-Identifier: Apache-2.0
 *
 * The colours of printed lines.
 */
#include "colors.h"

#include "client.h"
#include "config.h"

#include <spans.h>

#include <jansson.h>
#include <stdlib.h>
#include <strings.h>

#define FIELDS 6u        /* of a REMOTE line */
#define SEQUENCE_MAX 32u /* bytes of a configured sequence */

enum part {
    PART_DELIMITER,
    PART_REMOTE,
    PART_COUNT,
    PART_HOSTNAME,
    PART_ID,
    PART_STATS_OK,
    PART_STATS_WARN,
    PART_TEXT,
    PART_ERROR,
    PART_FATAL,
    PART_WARN,
    PART_MATCH,
    NR_PARTS
};

enum kind { KIND_FG, KIND_BG, KIND_ATTR, NR_KINDS };

struct colors {
    char seq[NR_PARTS][NR_KINDS][SEQUENCE_MAX + 1]; /* "": none */
};

struct part_name {
    const char *group, *name;
    const char *defaults[NR_KINDS];
};

static const struct part_name parts[NR_PARTS] = {
    [PART_DELIMITER] = {"Remote", "Delimiter", {"cyan", "blue", "dim"}},
    [PART_REMOTE] = {"Remote", "Remote", {"white", "blue", "dim"}},
    [PART_COUNT] = {"Remote", "Count", {"white", "blue", "dim"}},
    [PART_HOSTNAME] = {"Remote", "Hostname", {"white", "blue", "bold"}},
    [PART_ID] = {"Remote", "ID", {"white", "blue", "dim"}},
    [PART_STATS_OK] = {"Remote", "StatsOk", {"black", "green", "none"}},
    [PART_STATS_WARN] = {"Remote", "StatsWarn", {"white", "red", "none"}},
    [PART_TEXT] = {"Remote", "Text", {"white", "black", "none"}},
    [PART_ERROR] = {"Common", "SeverityError", {"white", "red", "bold"}},
    [PART_FATAL] = {"Common", "SeverityFatal", {"white", "magenta", "bold"}},
    [PART_WARN] = {"Common", "SeverityWarn", {"white", "black", "bold"}},
    [PART_MATCH] = {"Remote", "Match", {"red", "black", "bold"}},
};

static const char *const suffixes[NR_KINDS] = {"Fg", "Bg", "Attr"};

struct code {
    const char *name;
    int number; /* of a colour: behind 30 and 40 */
};

static const struct code color_codes[] = {
    {"black", 0},   {"red", 1},  {"green", 2}, {"yellow", 3},  {"blue", 4},
    {"magenta", 5}, {"cyan", 6}, {"white", 7}, {"default", 9}, {NULL, 0},
};
static const struct code attr_codes[] = {
    {"bold", 1},       {"dim", 2},       {"italic", 3},  {"underline", 4},
    {"blink", 5},      {"slowblink", 5}, {"reverse", 7}, {"hidden", 8},
    {"rapidblink", 6}, {"none", -1},     {NULL, 0},
};

bool
colors_wanted(const struct client *c, bool is_terminal)
{
    const char *no_color = getenv("NO_COLOR");

    if (c->flags->no_color || c->flags->plain ||
        strcasecmp(c->flags->color, "never") == 0) {
        return false;
    }
    if (strcasecmp(c->flags->color, "always") == 0) {
        return true;
    }
    return is_terminal && !(no_color && *no_color) &&
           c->config->client.term_colors_enable;
}

/* Translates a name or takes a sequence; false: it is neither. */
static bool
set_sequence(char out[SEQUENCE_MAX + 1], enum kind kind, const char *value)
{
    static const int bases[NR_KINDS] = {30, 40, 0};
    const struct code *code = kind == KIND_ATTR ? attr_codes : color_codes;
    size_t prefix = strlen(suffixes[kind]);

    if (*value == '\x1b') {
        size_t len = strlen(value);

        if (len > SEQUENCE_MAX) {
            return false;
        }
        memcpy(out, value, len + 1);
        return true;
    }
    if (strncasecmp(value, suffixes[kind], prefix) == 0) {
        value += prefix;
    }
    while (code->name && strcasecmp(code->name, value) != 0) {
        code++;
    }
    if (!code->name) {
        return false;
    }
    if (code->number < 0) {
        *out = '\0';
    } else {
        snprintf(out, SEQUENCE_MAX + 1, "\x1b[%dm", bases[kind] + code->number);
    }
    return true;
}

/* A member in any case, as everywhere in the settings. */
static json_t *
member(json_t *object, const char *name)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (strcasecmp(key, name) == 0) {
            return value;
        }
    }
    return NULL;
}

static void
configure(struct colors *c, json_t *scheme, struct log *log)
{
    for (size_t p = 0; p < NR_PARTS; p++) {
        json_t *group = member(scheme, parts[p].group);

        for (size_t k = 0; k < NR_KINDS; k++) {
            const char *value;
            char name[64];

            snprintf(name, sizeof(name), "%s%s", parts[p].name, suffixes[k]);
            value = json_string_value(member(group, name));
            if (value && !set_sequence(c->seq[p][k], (enum kind)k, value)) {
                log_warn(log,
                         "Client.TermColors.%s.%s: the name of a %s is "
                         "expected, or a sequence of at most %u bytes that "
                         "begins with ESC; the default is used",
                         parts[p].group, name,
                         k == KIND_ATTR ? "attribute" : "colour", SEQUENCE_MAX);
            }
        }
    }
}

int
colors_new(const char *json, struct log *log, struct colors **out,
           struct error *err)
{
    struct colors *c = calloc(1, sizeof(*c));
    json_t *scheme = json_loads(json ? json : "{}", 0, NULL);

    if (!c || !scheme) {
        free(c);
        json_decref(scheme);
        return error_set(err, DT_ERR_NOMEM, "colours: out of memory");
    }
    for (size_t p = 0; p < NR_PARTS; p++) {
        for (size_t k = 0; k < NR_KINDS; k++) {
            set_sequence(c->seq[p][k], (enum kind)k, parts[p].defaults[k]);
        }
    }
    configure(c, scheme, log);
    json_decref(scheme);
    *out = c;
    return DT_OK;
}

void
colors_free(struct colors *c)
{
    free(c);
}

static int
paint(const struct colors *c, enum part part, const char *text, size_t len,
      struct buf *out)
{
    const char *attr = c->seq[part][KIND_ATTR];
    int rc = buf_puts(out, c->seq[part][KIND_FG]);

    if (rc == DT_OK) {
        rc = buf_puts(out, c->seq[part][KIND_BG]);
    }
    if (rc == DT_OK) {
        rc = buf_puts(out, attr);
    }
    if (rc == DT_OK) {
        rc = buf_append(out, text, len);
    }
    if (rc == DT_OK) {
        rc = buf_puts(out,
                      *attr ? "\x1b[0m\x1b[49m\x1b[39m" : "\x1b[49m\x1b[39m");
    }
    return rc;
}

static bool
begins(const char *text, size_t len, const char *word)
{
    size_t word_len = strlen(word);

    return len >= word_len && memcmp(text, word, word_len) == 0;
}

/* What a field is by its place and what stands in it. */
static enum part
part_of(size_t field, const char *text, size_t len)
{
    static const enum part by_field[FIELDS] = {PART_REMOTE,   PART_HOSTNAME,
                                               PART_STATS_OK, PART_COUNT,
                                               PART_ID,       PART_TEXT};

    if (field == 2 && !(len == 3 && memcmp(text, "100", 3) == 0)) {
        return PART_STATS_WARN;
    }
    if (field + 1 == FIELDS) {
        return begins(text, len, "WARN")    ? PART_WARN
               : begins(text, len, "ERROR") ? PART_ERROR
               : begins(text, len, "FATAL") ? PART_FATAL
                                            : PART_TEXT;
    }
    return by_field[field];
}

/* [at, end) of a line, with the spans in it painted apart. */
static int
paint_text(const struct colors *c, enum part part, const char *line, size_t at,
           size_t end, const struct span *spans, size_t nr, struct buf *out)
{
    int rc = DT_OK;

    if (nr == 0 || spans[nr - 1].end <= at) {
        return paint(c, part, line + at, end - at, out);
    }
    for (size_t i = 0; rc == DT_OK && i < nr; i++) {
        size_t start = spans[i].start > at ? spans[i].start : at;

        if (spans[i].end <= at) {
            continue;
        }
        if (start > at) {
            rc = paint(c, part, line + at, start - at, out);
        }
        if (rc == DT_OK) {
            rc = paint(c, PART_MATCH, line + start, spans[i].end - start, out);
        }
        at = spans[i].end;
    }
    return rc == DT_OK && at < end ? paint(c, part, line + at, end - at, out)
                                   : rc;
}

int
colors_paint_remote(const struct colors *c, const char *line, size_t len,
                    const struct span *spans, size_t nr_spans, struct buf *out)
{
    const char *start[FIELDS], *end = line + len;
    size_t lens[FIELDS], nr = 0;
    int rc = DT_OK;

    for (const char *at = line; nr < FIELDS; nr++) {
        const char *bar =
            nr + 1 < FIELDS ? memchr(at, '|', (size_t)(end - at)) : NULL;

        start[nr] = at;
        lens[nr] = (size_t)((bar ? bar : end) - at);
        if (!bar) {
            nr++;
            break;
        }
        at = bar + 1;
    }
    if (nr < FIELDS) {
        rc = buf_puts(out, "\x1b[39m\x1b[49m");
        rc = rc == DT_OK ? buf_append(out, line, len) : rc;
        return rc == DT_OK ? buf_puts(out, "\x1b[49m\x1b[39m") : rc;
    }
    for (size_t i = 0; rc == DT_OK && i < nr; i++) {
        rc = i ? paint(c, PART_DELIMITER, "|", 1, out) : DT_OK;
        if (rc == DT_OK && i + 1 < FIELDS) {
            rc =
                paint(c, part_of(i, start[i], lens[i]), start[i], lens[i], out);
        } else if (rc == DT_OK) {
            rc = paint_text(c, part_of(i, start[i], lens[i]), line,
                            (size_t)(start[i] - line), len, spans, nr_spans,
                            out);
        }
    }
    return rc;
}
