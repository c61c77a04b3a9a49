/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may read what (spec server 8).
 */
#include "permission.h"

#include "match.h"
#include "permission-mode.h"

#include <stdlib.h>

#define RULE_TYPE "readfiles:"

struct rule {
    bool is_deny;
    struct match *match;
    char *text;
};

struct permission {
    struct rule *rules;
    size_t nr_rules;
    struct permission_account *account; /* NULL: mode bits are not checked */
};

/* 1: the rule's pattern is in the path; 0: it is not; or an error. */
static int
search(const struct rule *r, const char *path)
{
    struct match_state *state;
    int answer = match_state_new(r->match, NULL, NULL, &state);

    if (answer == DT_OK) {
        answer = match_text(state, path, strlen(path), NULL);
        match_state_free(state);
    }
    return answer;
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
    struct match_error reason;
    struct match_term term;
    /* the interpreter: paths are short, and a wrong answer would be grave */
    const struct match_args args = {
        .terms = &term, .nr_terms = 1, .hooks = MATCH_NO_JIT};
    int status;

    if (!strncmp(pattern, RULE_TYPE, strlen(RULE_TYPE))) {
        pattern += strlen(RULE_TYPE);
    }
    r->is_deny = *pattern == '!';
    pattern += r->is_deny;
    term = (struct match_term){pattern, strlen(pattern), false};
    status = match_compile(&args, &r->match, &reason);
    if (status == DT_ERR_NOMEM ||
        (status == DT_OK && !(r->text = strdup(text)))) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    return status == DT_OK
               ? DT_OK
               : error_set(err, DT_ERR_INVAL,
                           "permission rule \"%.500s\": byte %zu: %s", text,
                           (size_t)(pattern - text) + reason.offset,
                           reason.text + reason.why);
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
        match_free(p->rules[i].match);
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
        int answer = search(&p->rules[i], path);

        if (answer < 0) {
            return error_set(
                err, answer == DT_ERR_NOMEM ? DT_ERR_NOMEM : DT_ERR_ACCES,
                "%s: permission rule \"%.500s\" cannot be decided: %s", path,
                p->rules[i].text, dt_strerror(answer));
        }
        if (answer && p->rules[i].is_deny) {
            return error_set(err, DT_ERR_ACCES,
                             "%s: permission rule \"%.500s\" forbids it", path,
                             p->rules[i].text);
        }
        is_allowed |= answer == 1;
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
