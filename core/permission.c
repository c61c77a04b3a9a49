/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may read what (spec server 8).
 */
#include "permission.h"

#include "bytes.h"
#include "pattern.h"
#include "permission-mode.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define RULE_TYPE "readfiles:"
/* Backtracking steps a start position; a path is at most PATH_MAX long. */
#define RULE_MATCH_LIMIT 1000000u

struct rule {
    bool is_deny;
    struct pattern pattern;
    pcre2_code *code; /* NULL: the pattern says it all without */
    char *text;
};

struct permission {
    struct rule *rules;
    size_t nr_rules;
    struct permission_account *account; /* NULL: mode bits are not checked */
};

/* ---- searching ---- */

static int
compile(const struct pattern *p, pcre2_code **out, struct error *err)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    PCRE2_SIZE offset;
    PCRE2_UCHAR text[256];
    int code = PCRE2_ERROR_NOMEMORY;

    if (context) {
        pcre2_set_newline(context, PCRE2_NEWLINE_LF);
        *out =
            pcre2_compile((PCRE2_SPTR)p->regex, p->regex_len,
                          PCRE2_UTF | PCRE2_MULTILINE | PCRE2_NO_AUTO_CAPTURE |
                              PCRE2_NEVER_BACKSLASH_C,
                          &code, &offset, context);
        pcre2_compile_context_free(context);
    }
    if (*out) {
        return DT_OK;
    }
    pcre2_get_error_message(code, text, sizeof(text));
    return error_set(err, DT_ERR_INVAL, "%s", (const char *)text);
}

/* The text with each byte that is not UTF-8 as U+FFFD, as Go sees it. */
static int
to_utf8(const char *text, size_t len, struct buf *out)
{
    const char *end = text + len;
    int status = DT_OK;

    while (text < end && status == DT_OK) {
        size_t n = bytes_utf8_valid(text, (size_t)(end - text));

        status = buf_append(out, text, n);
        text += n;
        if (text < end && status == DT_OK) {
            status = buf_puts(out, "\xef\xbf\xbd");
            text++;
        }
    }
    return status;
}

/* DT_OK: found; DT_STOP: not found. */
static int
search_literal(const struct pattern *p, const char *text, size_t len)
{
    for (size_t at = 0; at + p->literal_len <= len; at++) {
        size_t i = 0;

        while (i < p->literal_len &&
               ((unsigned char)text[at + i] | (p->mask ? p->mask[i] : 0)) ==
                   p->literal[i]) {
            i++;
        }
        if (i == p->literal_len) {
            return DT_OK;
        }
    }
    return DT_STOP;
}

static int
search_regex(const pcre2_code *code, const char *text, size_t len)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    struct buf utf8 = {0};
    int status = DT_ERR_NOMEM;

    if (data && context && to_utf8(text, len, &utf8) == DT_OK) {
        int n;

        pcre2_set_match_limit(context, RULE_MATCH_LIMIT);
        n = pcre2_match(code, (PCRE2_SPTR)(utf8.data ? utf8.data : ""),
                        utf8.len, 0, 0, data, context);
        status = n >= 0                     ? DT_OK
                 : n == PCRE2_ERROR_NOMATCH ? DT_STOP
                                            : DT_ERR_LIMIT;
    }
    buf_fini(&utf8);
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
    return status;
}

static int
search(const struct rule *r, const char *text)
{
    size_t len = strlen(text);

    if (r->pattern.is_always || r->pattern.is_never) {
        return r->pattern.is_always ? DT_OK : DT_STOP;
    }
    return r->pattern.is_literal ? search_literal(&r->pattern, text, len)
                                 : search_regex(r->code, text, len);
}

/* ---- rules ---- */

/* "[readfiles:][!]regex". In Go everything before the first colon is a type,
 * and a rule of an unknown one never matches, so that a pattern with a colon
 * is silently dead; here the prefix counts only if it is a known type. A rule
 * that does not compile denies in Go when it is reached; here it is an error
 * of the configuration. */
static int
rule_init(struct rule *r, const char *text, struct error *err)
{
    struct pattern_error reason = {0};
    const char *pattern = text;
    int status;

    if (!strncmp(pattern, RULE_TYPE, strlen(RULE_TYPE))) {
        pattern += strlen(RULE_TYPE);
    }
    r->is_deny = *pattern == '!';
    pattern += r->is_deny;
    status = pattern_parse(pattern, strlen(pattern), 0, &r->pattern, &reason);
    if (status == DT_ERR_NOMEM ||
        (status == DT_OK && !(r->text = strdup(text)))) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    if (status != DT_OK) {
        return error_set(err, DT_ERR_INVAL,
                         "permission rule \"%.500s\": byte %zu: %s", text,
                         (size_t)(pattern - text) + reason.offset, reason.text);
    }
    if (r->pattern.regex) {
        status = compile(&r->pattern, &r->code, err);
        if (status != DT_OK) {
            error_prefix(err, "permission rule \"%.500s\"", text);
        }
    }
    return status;
}

int
permission_new(const char *user, const struct strv *rules, bool check_mode,
               struct permission **out, struct error *err)
{
    struct permission *p = calloc(1, sizeof(*p));
    int status = DT_OK;

    if (!p || !(p->rules = calloc(rules->nr + 1, sizeof(*p->rules)))) {
        free(p);
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    for (size_t i = 0; status == DT_OK && i < rules->nr; i++) {
        status = rule_init(&p->rules[p->nr_rules++], rules->v[i], err);
    }
    if (status == DT_OK && check_mode) {
        status = permission_account_new(user, &p->account, err);
    }
    if (status != DT_OK) {
        permission_free(p);
        return status;
    }
    *out = p;
    return DT_OK;
}

void
permission_free(struct permission *p)
{
    if (!p) {
        return;
    }
    for (size_t i = 0; i < p->nr_rules; i++) {
        pcre2_code_free(p->rules[i].code);
        pattern_fini(&p->rules[i].pattern);
        free(p->rules[i].text);
    }
    free(p->rules);
    permission_account_free(p->account);
    free(p);
}

static int
check_rules(const struct permission *p, const char *path, struct error *err)
{
    bool is_allowed = false;

    /* In a path with a newline `^` and `$` could find a line of it, and what
     * a rule means by them would be anybody's guess. */
    if (strchr(path, '\n')) {
        return error_set(err, DT_ERR_ACCES, "%s: newline in the path", path);
    }
    for (size_t i = 0; i < p->nr_rules; i++) {
        int status = search(&p->rules[i], path);

        if (status < 0) {
            return error_set(
                err, DT_ERR_ACCES,
                "%s: permission rule \"%.500s\" cannot be decided: %s", path,
                p->rules[i].text, dt_strerror(status));
        }
        if (status == DT_OK && p->rules[i].is_deny) {
            return error_set(err, DT_ERR_ACCES,
                             "%s: permission rule \"%.500s\" forbids it", path,
                             p->rules[i].text);
        }
        is_allowed |= status == DT_OK;
    }
    return is_allowed ? DT_OK
                      : error_set(err, DT_ERR_ACCES,
                                  "%s: no permission rule allows it", path);
}

int
permission_check(const struct permission *p, int fd, const char *path,
                 struct error *err)
{
    int status = check_rules(p, path, err);

    if (status == DT_OK && p->account && fd >= 0) {
        status = permission_mode_check_folders(p->account, path, err);
    }
    if (status == DT_OK && p->account && fd >= 0) {
        status = permission_mode_check(p->account, fd, path, err);
    }
    return status;
}
