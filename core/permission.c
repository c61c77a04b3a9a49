/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may read what (spec server 8).
 */
#include "permission.h"

#include "cleanup.h"
#include "permission-mode.h"

#include <limits.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define RULE_TYPE "readfiles:"
#define RULE_MAX_BYTES (64u * 1024u)
/* Backtracking steps a start position; a path is at most PATH_MAX long. */
#define RULE_MATCH_LIMIT 1000000u

struct rule {
    bool is_deny;
    pcre2_code *code;
    char *text;
};

struct permission {
    struct rule *rules;
    size_t nr_rules;
    struct permission_account *account; /* NULL: mode bits are not checked */
};

/* ---- patterns ---- */

static int
compile(const char *pattern, pcre2_code **out, char *reason, size_t cap)
{
    int code;
    PCRE2_SIZE offset;

    *out = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                         PCRE2_UTF | PCRE2_MATCH_INVALID_UTF |
                             PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE |
                             PCRE2_NEVER_BACKSLASH_C,
                         &code, &offset, NULL);
    if (*out) {
        return DT_OK;
    }
    PCRE2_UCHAR text[256];

    pcre2_get_error_message(code, text, sizeof(text));
    snprintf(reason, cap, "%s at byte %zu", (const char *)text, offset);
    return DT_ERR_INVAL;
}

/* DT_OK: matches; DT_STOP: does not; or an error. */
static int
search(const pcre2_code *code, const char *text)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    int status = DT_ERR_NOMEM;

    if (data && context) {
        int n;

        pcre2_set_match_limit(context, RULE_MATCH_LIMIT);
        n = pcre2_match(code, (PCRE2_SPTR)text, strlen(text), 0, 0, data,
                        context);
        status = n >= 0                     ? DT_OK
                 : n == PCRE2_ERROR_NOMATCH ? DT_STOP
                                            : DT_ERR_LIMIT;
    }
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
    return status;
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
    const char *pattern = text;
    char reason[300];

    if (strlen(text) > RULE_MAX_BYTES) {
        return error_set(err, DT_ERR_INVAL,
                         "permission rule \"%.60s…\": longer than %u bytes",
                         text, RULE_MAX_BYTES);
    }
    if (!strncmp(pattern, RULE_TYPE, strlen(RULE_TYPE))) {
        pattern += strlen(RULE_TYPE);
    }
    r->is_deny = *pattern == '!';
    pattern += r->is_deny;
    if (compile(pattern, &r->code, reason, sizeof(reason)) != DT_OK) {
        return error_set(err, DT_ERR_INVAL, "permission rule \"%s\": %s", text,
                         reason);
    }
    r->text = strdup(text);
    return r->text ? DT_OK : error_set(err, DT_ERR_NOMEM, "out of memory");
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
        int status = search(p->rules[i].code, path);

        if (status < 0) {
            return error_set(err, DT_ERR_ACCES,
                             "%s: permission rule \"%s\" cannot be decided: %s",
                             path, p->rules[i].text, dt_strerror(status));
        }
        if (status == DT_OK && p->rules[i].is_deny) {
            return error_set(err, DT_ERR_ACCES,
                             "%s: permission rule \"%s\" forbids it", path,
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
        status = permission_mode_check(p->account, fd, path, err);
    }
    return status;
}
