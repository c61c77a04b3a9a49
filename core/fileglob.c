/* SPDX-License-Identifier: Apache-2.0
 *
 * File name patterns in the dialect of Go's filepath.Glob.
 */
#include "fileglob.h"

#include "bytes.h"
#include "cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define RUNE_ERROR 0xfffdu

/* ---- cleaning ---- */

char *
fileglob_clean(const char *path)
{
    size_t len = strlen(path);
    bool is_rooted = path[0] == '/';
    size_t nr_out = 0, floor = is_rooted ? 1 : 0;
    char *out = malloc(len + 2);

    if (!out) {
        return NULL;
    }
    if (is_rooted) {
        out[nr_out++] = '/';
    }
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");

        if (n == 2 && p[0] == '.' && p[1] == '.' && nr_out > floor) {
            do {
                nr_out--;
            } while (nr_out > floor && out[nr_out] != '/');
        } else if (n == 0 || (n == 1 && p[0] == '.') ||
                   (n == 2 && p[0] == '.' && p[1] == '.' && is_rooted)) {
            /* says nothing */
        } else {
            bool is_up = n == 2 && p[0] == '.' && p[1] == '.';

            if (nr_out > (is_rooted ? 1u : 0u)) {
                out[nr_out++] = '/';
            }
            memcpy(out + nr_out, p, n);
            nr_out += n;
            if (is_up) {
                floor = nr_out; /* a leading ".." cannot be taken back */
            }
        }
        p += n;
        p += *p == '/';
    }
    if (nr_out == 0) {
        out[nr_out++] = '.';
    }
    out[nr_out] = '\0';
    return out;
}

/* ---- matching ---- */

bool
fileglob_has_meta(const char *pattern)
{
    return strpbrk(pattern, "*?[\\") != NULL;
}

/* One character as Go decodes it: a byte that is not UTF-8 counts as one
 * U+FFFD. Returns the bytes used; `p` is not at its end. */
static size_t
decode_rune(const char *p, uint32_t *rune)
{
    static const uint8_t lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t n = bytes_utf8_char(p, p + strnlen(p, 4));

    if (n == 0) {
        *rune = RUNE_ERROR;
        return 1;
    }
    *rune = (uint8_t)p[0] & lead_mask[n];
    for (size_t i = 1; i < n; i++) {
        *rune = *rune << 6 | ((uint8_t)p[i] & 0x3fu);
    }
    return n;
}

/* One bound of a range in brackets; false: malformed. */
static bool
class_bound(const char **at, uint32_t *rune)
{
    const char *p = *at;
    size_t n;

    if (*p == '\0' || *p == '-' || *p == ']') {
        return false;
    }
    if (*p == '\\' && *++p == '\0') {
        return false;
    }
    n = decode_rune(p, rune);
    if (*rune == RUNE_ERROR && n == 1) {
        return false;
    }
    *at = p + n;
    return **at != '\0';
}

/* Reads a class behind its `[` and moves behind its `]`. False: malformed. */
static bool
class_match(const char **at, uint32_t rune, bool *is_match)
{
    const char *p = *at;
    bool is_negated = *p == '^';
    bool is_in = false;
    size_t nr_ranges = 0;

    p += is_negated;
    while (*p != ']' || nr_ranges == 0) {
        uint32_t low, high;

        if (!class_bound(&p, &low)) {
            return false;
        }
        high = low;
        if (*p == '-') {
            p++;
            if (!class_bound(&p, &high)) {
                return false;
            }
        }
        is_in |= low <= rune && rune <= high;
        nr_ranges++;
    }
    *at = p + 1;
    *is_match = is_in != is_negated;
    return true;
}

static bool
is_well_formed(const char *p)
{
    bool ignored;

    while (*p) {
        char c = *p++;

        if (c == '[' && !class_match(&p, 0, &ignored)) {
            return false;
        }
        if (c == '\\' && *p++ == '\0') {
            return false;
        }
    }
    return true;
}

/* Matches one element other than `*` and steps over it in both texts. */
static bool
match_one(const char **pattern, const char **name)
{
    const char *p = *pattern;
    const char *s = *name;
    bool is_match = true;
    uint32_t rune;

    if (*p == '\0' || *s == '\0' || *s == '/') {
        return false;
    }
    if (*p == '[') {
        s += decode_rune(s, &rune);
        p++;
        if (!class_match(&p, rune, &is_match)) {
            return false;
        }
    } else if (*p == '?') {
        s += decode_rune(s, &rune);
        p++;
    } else {
        p += *p == '\\';
        is_match = *p++ == *s++;
    }
    *pattern = p;
    *name = s;
    return is_match;
}

/* `pattern` is well-formed. Only the last star is ever tried again: what
 * stands between two stars may as well match as early as it can. */
static bool
match(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;

    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = name;
            continue;
        }
        if (*pattern == '\0' && *name == '\0') {
            return true;
        }
        if (match_one(&pattern, &name)) {
            continue;
        }
        if (!star || *retry == '\0' || *retry == '/') {
            return false;
        }
        pattern = star;
        name = ++retry;
    }
}

int
fileglob_match(const char *pattern, const char *name)
{
    if (!is_well_formed(pattern)) {
        return DT_ERR_INVAL;
    }
    return match(pattern, name) ? DT_OK : DT_STOP;
}

/* ---- expanding ---- */

struct walk {
    struct strv components; /* from the first one with a wildcard on */
    size_t max;
    size_t nr_entries;
    struct strv *out;
    size_t *matched;
};

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory that match, sorted. */
static int
list_dir(struct walk *w, const char *dir, const char *pattern,
         struct strv *names)
{
    const struct dirent *entry;
    DIR *d = opendir(*dir ? dir : ".");
    int status = DT_OK;

    if (!d) {
        return errno == ENOMEM ? DT_ERR_NOMEM : DT_OK;
    }
    while (status == DT_OK && (entry = readdir(d))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) {
            continue;
        }
        if (w->nr_entries++ >= FILEGLOB_MAX_ENTRIES) {
            status = DT_ERR_LIMIT;
        } else if (match(pattern, entry->d_name)) {
            status = strv_add(names, entry->d_name);
        }
    }
    closedir(d);
    if (names->nr) {
        qsort(names->v, names->nr, sizeof(*names->v), compare_names);
    }
    return status;
}

static int
add_match(struct walk *w, const char *path)
{
    ++*w->matched;
    return w->out->nr < w->max ? strv_add(w->out, path) : DT_OK;
}

static int
walk(struct walk *w, struct buf *path, size_t depth)
{
    size_t len = path->len;
    bool needs_slash = len && path->data[len - 1] != '/';
    struct strv names = {0};
    int status;

    status = buf_append(path, "", 1); /* a string for opendir */
    path->len = len;
    if (status == DT_OK) {
        status = list_dir(w, path->data, w->components.v[depth], &names);
    }
    for (size_t i = 0; status == DT_OK && i < names.nr; i++) {
        status = needs_slash ? buf_puts(path, "/") : DT_OK;
        if (status == DT_OK) {
            status = buf_append(path, names.v[i], strlen(names.v[i]) + 1);
        }
        if (status == DT_OK && depth + 1 == w->components.nr) {
            status = add_match(w, path->data);
        } else if (status == DT_OK) {
            path->len--;
            status = walk(w, path, depth + 1);
        }
        path->len = len;
    }
    strv_fini(&names);
    return status;
}

/* Splits into the leading part without wildcards and the components behind
 * it. */
static int
split(const char *pattern, struct buf *prefix, struct strv *components)
{
    const char *first = strpbrk(pattern, "*?[\\");
    const char *p = first;
    int status;

    while (p > pattern && p[-1] != '/') {
        p--;
    }
    status = buf_append(prefix, pattern, (size_t)(p - pattern));
    while (status == DT_OK && *p) {
        size_t n = strcspn(p, "/");

        status = strv_add_n(components, p, n);
        p += n;
        p += *p == '/';
    }
    return status;
}

static int
expand_wild(const char *pattern, struct walk *w, struct error *err)
{
    struct buf prefix = {0};
    int status = split(pattern, &prefix, &w->components);

    for (size_t i = 0; status == DT_OK && i < w->components.nr; i++) {
        if (!is_well_formed(w->components.v[i])) {
            status = error_set(err, DT_ERR_INVAL,
                               "%s: malformed file name pattern", pattern);
        }
    }
    if (status == DT_OK) {
        status = walk(w, &prefix, 0);
        if (status == DT_ERR_LIMIT) {
            error_set(err, status,
                      "%s: more than %u directory entries to look at", pattern,
                      FILEGLOB_MAX_ENTRIES);
        }
    }
    if (status == DT_ERR_NOMEM) {
        error_set(err, status, "%s: out of memory", pattern);
    }
    buf_fini(&prefix);
    strv_fini(&w->components);
    return status;
}

int
fileglob_expand(const char *pattern, size_t max, struct strv *out,
                size_t *matched, struct error *err)
{
    struct walk w = {.max = max, .out = out, .matched = matched};
    struct stat st;

    *matched = 0;
    if (strlen(pattern) > FILEGLOB_MAX_PATTERN) {
        return error_set(err, DT_ERR_INVAL,
                         "%.60s…: file name pattern longer than %u bytes",
                         pattern, FILEGLOB_MAX_PATTERN);
    }
    if (fileglob_has_meta(pattern)) {
        return expand_wild(pattern, &w, err);
    }
    if (lstat(pattern, &st) < 0) {
        return DT_OK;
    }
    return add_match(&w, pattern) == DT_OK
               ? DT_OK
               : error_set(err, DT_ERR_NOMEM, "%s: out of memory", pattern);
}
