/* SPDX-License-Identifier: Apache-2.0
 *
 * ssh_config files: what they say of a host.
 */
#include "sshconfig-lookup.h"

#include "cleanup.h"
#include "hostpattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#define MAX_CONNECT_S 3600

static void
lower(char *text)
{
    for (; *text; text++) {
        *text = (char)tolower((unsigned char)*text);
    }
}

/* ---- which lines count ---- */

/* Does a list match, whatever the case? */
static int
matches(struct sshconfig_lookup *l, const char *list, const char *text)
{
    CLEANUP_FREE char *name = strdup(text);

    if (!name) {
        return sshconfig_no_memory(l);
    }
    lower(name);
    return hostpattern_matches(list, name);
}

/* The name that is connected to, as far as it is known. */
static int
match_host(struct sshconfig_lookup *l, const char *list)
{
    struct buf name = {0};
    const struct sc_line *line = l->first[SC_HOST_NAME];
    int rc = DT_OK;

    if (!line) {
        return matches(l, list, l->name);
    }
    rc = sshconfig_expand(l, line, line->args.v[0], &name);
    if (rc == DT_OK) {
        rc = matches(l, list, name.data);
    }
    buf_fini(&name);
    return rc;
}

/* One criterion of a Match line: 1, 0 or an error. */
static int
match_one(struct sshconfig_lookup *l, const struct sc_line *line,
          const char *what, const char *list)
{
    if (strcasecmp(what, "host") == 0) {
        return match_host(l, list);
    }
    if (strcasecmp(what, "originalhost") == 0) {
        return matches(l, list, l->name);
    }
    if (strcasecmp(what, "user") == 0) {
        return matches(l, list, sshconfig_remote_user(l));
    }
    if (strcasecmp(what, "localuser") == 0) {
        return matches(l, list, l->config->args.user);
    }
    return error_set(l->err, DT_ERR_INVAL,
                     "%s line %u: Match %s cannot be honoured (all, final, "
                     "host, originalhost, user and localuser can; --ssh-config "
                     "names another file, or none)",
                     line->file, line->nr, what);
}

static int
match_line(struct sshconfig_lookup *l, const struct sc_line *line)
{
    const struct strv *a = &line->args;

    for (size_t i = 0; i < a->nr; i++) {
        bool negated = a->v[i][0] == '!';
        const char *what = a->v[i] + negated;
        int rc;

        if (strcasecmp(what, "all") == 0) {
            rc = 1;
        } else if (strcasecmp(what, "final") == 0) {
            rc = l->is_final;
        } else if (strcasecmp(what, "canonical") == 0) {
            rc = 0; /* names are never made canonical here */
        } else if (++i == a->nr) {
            return sshconfig_bad(l, line, "a criterion has no list");
        } else {
            rc = match_one(l, line, what, a->v[i]);
        }
        if (rc < 0 || rc == negated) {
            return rc < 0 ? rc : 0;
        }
    }
    return 1;
}

static int
take_list(struct sshconfig_lookup *l, const struct sc_line *line)
{
    struct strv *out =
        line->key == SC_IDENTITY ? &l->out->identities : &l->out->certificates;

    /* "none" as in ssh; names are filled in when all is known. */
    for (size_t i = 0; i < out->nr; i++) {
        if (strcmp(out->v[i], line->args.v[0]) == 0) {
            return DT_OK;
        }
    }
    if (strcasecmp(line->args.v[0], "none") == 0) {
        return DT_OK;
    }
    return strv_add(out, line->args.v[0]) == DT_OK ? DT_OK
                                                   : sshconfig_no_memory(l);
}

static int
take_line(struct sshconfig_lookup *l, const struct sc_line *line)
{
    bool *active = &l->active[l->depth];
    bool outer = l->depth == 0 || l->active[l->depth - 1];
    int rc;

    switch (line->key) {
    case SC_PUSH:
        l->active[l->depth + 1] = *active;
        l->depth++;
        return DT_OK;
    case SC_POP:
        l->depth--;
        return DT_OK;
    case SC_HOST:
        *active = outer && hostpattern_matches(line->args.v[0], l->name);
        return DT_OK;
    case SC_MATCH:
        rc = outer ? match_line(l, line) : 0;
        *active = rc > 0;
        return rc < 0 ? rc : DT_OK;
    default:
        break;
    }
    if (!*active) {
        return DT_OK;
    }
    if (line->key == SC_REFUSED) {
        return strcasecmp(line->args.v[0], "none") == 0 ||
                       strcasecmp(line->args.v[0], "no") == 0
                   ? DT_OK
                   : sshconfig_bad(l, line,
                                   "this cannot be honoured (--ssh-config "
                                   "names another file, or none)");
    }
    if (line->key == SC_IDENTITY || line->key == SC_CERTIFICATE) {
        return take_list(l, line);
    }
    if (!l->first[line->key]) {
        l->first[line->key] = line;
    }
    return DT_OK;
}

static int
take_lines(struct sshconfig_lookup *l)
{
    int turns = l->config->has_final ? 2 : 1;

    for (int turn = 0; turn < turns; turn++) {
        l->is_final = turn == 1;
        l->depth = 0;
        l->active[0] = true;
        for (size_t i = 0; i < l->config->nr; i++) {
            int rc = take_line(l, &l->config->lines[i]);

            if (rc != DT_OK) {
                return rc;
            }
        }
    }
    return DT_OK;
}

/* ---- what they say ---- */

static int
set_numbers(struct sshconfig_lookup *l)
{
    const char *port = sshconfig_arg(l, SC_PORT),
               *limit = sshconfig_arg(l, SC_CONNECT_TIMEOUT);
    char *end;

    if (port) {
        unsigned long value = strtoul(port, &end, 10);

        if (*end || value < 1 || value > 65535) {
            return sshconfig_bad(l, l->first[SC_PORT],
                                 "1 to 65535 are allowed");
        }
        l->out->port = (uint16_t)value;
    }
    if (limit && strcasecmp(limit, "none") != 0) {
        unsigned long value = strtoul(limit, &end, 10);

        if (*end || value < 1 || value > MAX_CONNECT_S) {
            return sshconfig_bad(l, l->first[SC_CONNECT_TIMEOUT],
                                 "1 to 3600 seconds are allowed");
        }
        l->out->connect_ms = (int)value * 1000;
    }
    return DT_OK;
}

static int
set_words(struct sshconfig_lookup *l)
{
    const char *strict = sshconfig_arg(l, SC_STRICT),
               *only = sshconfig_arg(l, SC_IDENTITIES_ONLY);
    const char *family = sshconfig_arg(l, SC_ADDRESS_FAMILY);

    l->out->identities_only = only && strcasecmp(only, "yes") == 0;
    if (!strict || strcasecmp(strict, "ask") == 0) {
        l->out->strict = SSHCONFIG_ASK;
    } else if (strcasecmp(strict, "yes") == 0) {
        l->out->strict = SSHCONFIG_REFUSE;
    } else if (strcasecmp(strict, "no") == 0 ||
               strcasecmp(strict, "off") == 0 ||
               strcasecmp(strict, "accept-new") == 0) {
        l->out->strict = SSHCONFIG_ACCEPT;
    } else {
        return sshconfig_bad(l, l->first[SC_STRICT],
                             "yes, no, ask and accept-new are allowed");
    }
    if (!family || strcasecmp(family, "any") == 0) {
        l->out->family = AF_UNSPEC;
    } else if (strcasecmp(family, "inet") == 0) {
        l->out->family = AF_INET;
    } else if (strcasecmp(family, "inet6") == 0) {
        l->out->family = AF_INET6;
    } else {
        return sshconfig_bad(l, l->first[SC_ADDRESS_FAMILY],
                             "any, inet and inet6 are allowed");
    }
    return DT_OK;
}

static int
set_text(struct sshconfig_lookup *l, enum sc_key key, char **out)
{
    struct buf text = {0};
    int rc = DT_OK;

    if (sshconfig_arg(l, key)) {
        rc = sshconfig_expand(l, l->first[key], sshconfig_arg(l, key), &text);
        if (rc == DT_OK) {
            *out = STEAL_PTR(text.data);
        }
        buf_fini(&text);
    }
    return rc;
}

/* Names of the connection first: other values may contain them. */
static int
set_names(struct sshconfig_lookup *l)
{
    char *name = NULL;
    int rc = set_text(l, SC_HOST_NAME, &name);

    if (rc != DT_OK) {
        return rc;
    }
    l->out->host_name = name ? name : strdup(l->written);
    if (!l->out->host_name ||
        (sshconfig_arg(l, SC_USER) &&
         !(l->out->user = strdup(sshconfig_arg(l, SC_USER))))) {
        return sshconfig_no_memory(l);
    }
    return set_text(l, SC_HOST_KEY_ALIAS, &l->out->key_alias);
}

/* Files as they are named become files as they are. */
static int
set_files(struct sshconfig_lookup *l, const struct sc_line *line,
          const struct strv *from, struct strv *out)
{
    int rc = DT_OK;

    for (size_t i = 0; rc == DT_OK && i < from->nr; i++) {
        rc = strcasecmp(from->v[i], "none") == 0
                 ? strv_add(out, "/dev/null")
                 : sshconfig_expand_path(l, line, from->v[i], out);
    }
    return rc;
}

static int
set_lists(struct sshconfig_lookup *l)
{
    struct sshconfig_host *o = l->out;
    const struct sc_line *user = l->first[SC_USER_KNOWN_HOSTS];
    const struct sc_line *global = l->first[SC_GLOBAL_KNOWN_HOSTS];
    const struct sc_line named = {.word = "IdentityFile or CertificateFile",
                                  .file = "ssh_config"};
    struct strv identities = o->identities, certificates = o->certificates;
    int rc;

    o->identities = o->certificates = (struct strv){0};
    rc = set_files(l, &named, &identities, &o->identities);
    if (rc == DT_OK) {
        rc = set_files(l, &named, &certificates, &o->certificates);
    }
    if (rc == DT_OK && user) {
        rc = set_files(l, user, &user->args, &o->known_hosts);
    }
    if (rc == DT_OK && global) {
        rc = set_files(l, global, &global->args, &o->global_known_hosts);
    }
    strv_fini(&identities);
    strv_fini(&certificates);
    return rc;
}

static int
set_agent(struct sshconfig_lookup *l)
{
    const struct sc_line *line = l->first[SC_IDENTITY_AGENT];
    const char *value = sshconfig_arg(l, SC_IDENTITY_AGENT);
    struct strv path = {0};
    int rc;

    if (!value || strcmp(value, "SSH_AUTH_SOCK") == 0) {
        return DT_OK;
    }
    if (strcasecmp(value, "none") == 0) {
        l->out->identity_agent = strdup("");
        return l->out->identity_agent ? DT_OK : sshconfig_no_memory(l);
    }
    if (value[0] == '$' && value[1] != '{') {
        value = getenv(value + 1);
        value = value ? value : "";
    }
    rc = sshconfig_expand_path(l, line, value, &path);
    if (rc == DT_OK) {
        l->out->identity_agent = STEAL_PTR(path.v[0]);
        path.nr = 0;
    }
    strv_fini(&path);
    return rc;
}

/* ---- proxies ---- */

/* May this stand in a shell command? Names come from lists and inventories. */
static bool
is_harmless(const char *text)
{
    for (; *text; text++) {
        if (!isalnum((unsigned char)*text) && !strchr("._-:%@+", *text)) {
            return false;
        }
    }
    return true;
}

/* As ssh: a command that runs ssh for the last jump, which jumps the others. */
static int
jump(struct sshconfig_lookup *l, const struct sc_line *line, struct buf *out)
{
    const char *list = line->args.v[0];
    const char *last = strrchr(list, ',');
    const char *path = l->config->args.path;
    int rc = buf_puts(out, "exec ssh ");

    if (!is_harmless(last ? last + 1 : list) || list[0] == '-' ||
        strspn(list, "[]/,._-:%@+ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "abcdefghijklmnopqrstuvwxyz0123456789") != strlen(list)) {
        return sshconfig_bad(l, line,
                             "allowed are [USER@]HOST[:PORT] with commas");
    }
    if (rc == DT_OK && *path) {
        rc = buf_puts(out, "-F '");
        for (; rc == DT_OK && *path; path++) {
            rc = *path == '\'' ? buf_puts(out, "'\\''")
                               : buf_append(out, path, 1);
        }
        rc = rc == DT_OK ? buf_puts(out, "' ") : rc;
    }
    if (rc == DT_OK && last) {
        rc = buf_printf(out, "-J %.*s ", (int)(last - list), list);
    }
    last = last ? last + 1 : list;
    if (rc == DT_OK) {
        rc = buf_printf(out, "-W '[%s]:%u' -- ssh://%s", l->out->host_name,
                        sshconfig_remote_port(l),
                        strncmp(last, "ssh://", 6) == 0 ? last + 6 : last);
    }
    return rc == DT_OK ? DT_OK : sshconfig_no_memory(l);
}

static int
set_proxy(struct sshconfig_lookup *l)
{
    const struct sc_line *line = l->first[SC_PROXY];
    struct buf text = {0};
    int rc;

    if (!line || strcasecmp(line->args.v[0], "none") == 0) {
        return DT_OK;
    }
    if (!is_harmless(l->name) || !is_harmless(l->out->host_name) ||
        !is_harmless(sshconfig_remote_user(l))) {
        return sshconfig_bad(l, line,
                             "names of host and user may only have letters, "
                             "digits and ._-:%@+, as they go to a shell");
    }
    if (line->is_jump) {
        rc = jump(l, line, &text);
    } else {
        rc = sshconfig_expand(l, line, line->args.v[0], &text);
    }
    if (rc == DT_OK && buf_append(&text, "", 1) != DT_OK) {
        rc = sshconfig_no_memory(l);
    }
    if (rc == DT_OK) {
        l->out->proxy = STEAL_PTR(text.data);
    }
    buf_fini(&text);
    return rc;
}

int
sshconfig_lookup(const struct sshconfig *s, const char *name, const char *user,
                 uint16_t port, uint16_t default_port,
                 struct sshconfig_host *out, struct error *err)
{
    CLEANUP_FREE char *lowered = strdup(name);
    struct sshconfig_lookup l = {
        .config = s,
        .written = name,
        .name = lowered,
        .user = user,
        .port = port,
        .default_port = default_port,
        .out = out,
        .err = err,
    };
    int rc;

    *out = (struct sshconfig_host){0};
    if (!lowered) {
        return sshconfig_no_memory(&l);
    }
    lower(lowered);
    if ((rc = take_lines(&l)) != DT_OK || (rc = set_names(&l)) != DT_OK ||
        (rc = set_numbers(&l)) != DT_OK || (rc = set_words(&l)) != DT_OK ||
        (rc = set_lists(&l)) != DT_OK || (rc = set_agent(&l)) != DT_OK ||
        (rc = set_proxy(&l)) != DT_OK) {
        sshconfig_host_fini(out);
    }
    return rc;
}

void
sshconfig_host_fini(struct sshconfig_host *h)
{
    free(h->host_name);
    free(h->user);
    free(h->key_alias);
    free(h->proxy);
    free(h->identity_agent);
    strv_fini(&h->identities);
    strv_fini(&h->certificates);
    strv_fini(&h->known_hosts);
    strv_fini(&h->global_known_hosts);
    *h = (struct sshconfig_host){0};
}
