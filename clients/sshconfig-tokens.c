/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens in values of ssh_config files, and what is said of a bad line.
 */
#include "sshconfig-lookup.h"

#include "cleanup.h"

#include <stdlib.h>

int
sshconfig_bad(struct sshconfig_lookup *l, const struct sc_line *line,
              const char *what)
{
    return error_set(l->err, DT_ERR_INVAL, "%s line %u: %s: %s", line->file,
                     line->nr, line->word, what);
}

int
sshconfig_no_memory(struct sshconfig_lookup *l)
{
    return error_set(l->err, DT_ERR_NOMEM, "ssh_config: out of memory");
}

const char *
sshconfig_arg(const struct sshconfig_lookup *l, enum sc_key key)
{
    return l->first[key] ? l->first[key]->args.v[0] : NULL;
}

const char *
sshconfig_remote_user(const struct sshconfig_lookup *l)
{
    const char *user = *l->user ? l->user : sshconfig_arg(l, SC_USER);

    return user ? user : l->config->args.user;
}

unsigned
sshconfig_remote_port(const struct sshconfig_lookup *l)
{
    return l->port ? l->port : l->out->port ? l->out->port : l->default_port;
}

/* Appends what stands for a token; false: there is no such one. */
static bool
add_token(struct sshconfig_lookup *l, char token, struct buf *out, int *rc)
{
    const struct sshconfig_args *args = &l->config->args;
    const char *alias = sshconfig_arg(l, SC_HOST_KEY_ALIAS);

    switch (token) {
    case '%':
        *rc = buf_puts(out, "%");
        return true;
    case 'd':
        *rc = buf_puts(out, args->home);
        return true;
    case 'h': /* while the name itself is made, what the user wrote */
        *rc = buf_puts(out, l->out->host_name ? l->out->host_name : l->name);
        return true;
    case 'i':
        *rc = buf_printf(out, "%lu", (unsigned long)getuid());
        return true;
    case 'k':
        *rc = buf_puts(out, alias ? alias : l->name);
        return true;
    case 'L':
        *rc = buf_append(out, args->host, strcspn(args->host, "."));
        return true;
    case 'l':
        *rc = buf_puts(out, args->host);
        return true;
    case 'n':
        *rc = buf_puts(out, l->name);
        return true;
    case 'p':
        *rc = buf_printf(out, "%u", sshconfig_remote_port(l));
        return true;
    case 'r':
        *rc = buf_puts(out, sshconfig_remote_user(l));
        return true;
    case 'u':
        *rc = buf_puts(out, args->user);
        return true;
    default:
        return false;
    }
}

/* Appends a value with its tokens filled in. */
int
sshconfig_expand(struct sshconfig_lookup *l, const struct sc_line *line,
                 const char *text, struct buf *out)
{
    int rc = DT_OK;

    for (; rc == DT_OK && *text; text++) {
        if (*text != '%') {
            rc = buf_append(out, text, 1);
        } else if (!add_token(l, *++text, out, &rc)) {
            return sshconfig_bad(l, line,
                                 "a token behind % that is not one of "
                                 "%dhikLlnpru");
        }
    }
    if (rc == DT_OK) {
        rc = buf_append(out, "", 1);
        out->len -= rc == DT_OK;
    }
    return rc == DT_OK ? DT_OK : sshconfig_no_memory(l);
}

/* The same for the name of a file: "~/" and "${NAME}" as well. */
int
sshconfig_expand_path(struct sshconfig_lookup *l, const struct sc_line *line,
                      const char *text, struct strv *out)
{
    struct buf path = {0}, full = {0};
    int rc = DT_OK;

    if (strncmp(text, "~/", 2) == 0) {
        rc = buf_puts(&full, l->config->args.home);
        text++;
    } else if (*text == '~') {
        return sshconfig_bad(l, line, "~USER is not understood");
    }
    while (rc == DT_OK && *text) {
        const char *end =
            strncmp(text, "${", 2) == 0 ? strchr(text, '}') : NULL;

        if (end) {
            char name[128];
            const char *value;

            snprintf(name, sizeof(name), "%.*s", (int)(end - text - 2),
                     text + 2);
            value = getenv(name);
            if (!value) {
                buf_fini(&full);
                return sshconfig_bad(l, line,
                                     "the environment has no such variable");
            }
            rc = buf_puts(&full, value);
            text = end + 1;
        } else {
            rc = buf_append(&full, text++, 1);
        }
    }
    if (rc == DT_OK) {
        rc = buf_append(&full, "", 1);
    }
    rc = rc == DT_OK ? sshconfig_expand(l, line, full.data, &path)
                     : sshconfig_no_memory(l);
    for (size_t i = 0; rc == DT_OK && i < out->nr; i++) {
        if (strcmp(out->v[i], path.data) == 0) { /* a second turn */
            buf_fini(&full);
            buf_fini(&path);
            return DT_OK;
        }
    }
    if (rc == DT_OK && strv_add_n(out, path.data, path.len) != DT_OK) {
        rc = sshconfig_no_memory(l);
    }
    buf_fini(&full);
    buf_fini(&path);
    return rc;
}
