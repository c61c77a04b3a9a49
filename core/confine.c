/* SPDX-License-Identifier: Apache-2.0
 *
 * What is put on which process, and the words for it.
 */
#include "confine.h"

#include "dtail/plugin.h"

#include <stdlib.h>
#include <string.h>

struct confine {
    uint32_t rights; /* of workers */
    bool is_off;
    struct buf filters[CONFINE_ROLES]; /* empty: no seccomp */
};

static const struct {
    const char *name;
    uint32_t right;
} rights_by_name[] = {
    {"write", DT_NEEDS_WRITE},
    {"exec", DT_NEEDS_EXEC},
    {"network", DT_NEEDS_NETWORK},
};

#define NR_RIGHTS (sizeof(rights_by_name) / sizeof(*rights_by_name))

uint32_t
confine_right(const char *name)
{
    for (size_t i = 0; i < NR_RIGHTS; i++) {
        if (strcmp(rights_by_name[i].name, name) == 0) {
            return rights_by_name[i].right;
        }
    }
    return 0;
}

int
confine_right_names(uint32_t rights, const char *separator, struct buf *out)
{
    const char *before = "";
    int st = DT_OK;

    for (size_t i = 0; st == DT_OK && i < NR_RIGHTS; i++) {
        if (rights & rights_by_name[i].right) {
            st = buf_printf(out, "%s%s", before, rights_by_name[i].name);
            before = separator;
        }
    }
    return st;
}

/* Nothing is missing for "require". */
static int
check(const char *mode, struct error *err)
{
    if (strcmp(mode, "require") != 0) {
        return DT_OK;
    }
    if (confine_landlock_version() == 0) {
        return error_set(err, DT_ERR_INVAL,
                         "Server.Sandbox is \"require\", but the kernel has "
                         "no Landlock; \"auto\" would go on without");
    }
    if (!confine_has_seccomp()) {
        return error_set(err, DT_ERR_INVAL,
                         "Server.Sandbox is \"require\", but the kernel or "
                         "this build has no seccomp; \"auto\" would go on "
                         "without");
    }
    return DT_OK;
}

int
confine_new(const char *mode, uint32_t rights, struct confine **out,
            struct error *err)
{
    struct confine *c = calloc(1, sizeof(*c));
    int st;

    if (!c) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    c->is_off = strcmp(mode, "off") == 0;
    c->rights = rights;
    st = check(mode, err);
    for (int role = 0; st == DT_OK && !c->is_off && role < CONFINE_ROLES;
         role++) {
        if (confine_has_seccomp()) {
            st = confine_seccomp_make((enum confine_role)role, rights,
                                      &c->filters[role], err);
        }
    }
    if (st != DT_OK) {
        confine_free(c);
        return st;
    }
    *out = c;
    return DT_OK;
}

void
confine_free(struct confine *c)
{
    for (int role = 0; c && role < CONFINE_ROLES; role++) {
        buf_fini(&c->filters[role]);
    }
    free(c);
}

int
confine(const struct confine *c, enum confine_role role, struct error *err)
{
    int st = DT_OK;

    if (!c || c->is_off) {
        return DT_OK;
    }
    /* Landlock first: its system calls are none that the filter lets by. */
    if (confine_landlock_version() > 0) {
        st = confine_landlock(role, c->rights, err);
    }
    if (st == DT_OK && c->filters[role].len > 0) {
        st = confine_seccomp_load(&c->filters[role], err);
    }
    return st;
}

/* The versions of Landlock that brought what is used here. */
static int
describe_landlock(int version, uint32_t rights, struct buf *out)
{
    int st;

    if (version == 0) {
        return buf_puts(out, "no Landlock in this kernel");
    }
    st = buf_printf(out, "Landlock %d (%s", version,
                    rights & DT_NEEDS_WRITE ? "files" : "files read-only");
    if (st == DT_OK && version >= 4 && !(rights & DT_NEEDS_NETWORK)) {
        st = buf_puts(out, ", no TCP");
    }
    if (st == DT_OK && version >= 6) {
        st = buf_puts(out, ", no signals to others");
    }
    return st == DT_OK ? buf_puts(out, ")") : st;
}

static int
describe_seccomp(uint32_t rights, struct buf *out)
{
    int st;

    if (!confine_has_seccomp()) {
        return buf_puts(out, "no seccomp in this kernel or build");
    }
    st = buf_puts(out, "seccomp (no ptrace");
    if (st == DT_OK && !(rights & DT_NEEDS_EXEC)) {
        st = buf_puts(out, ", no exec");
    }
    if (st == DT_OK && !(rights & DT_NEEDS_NETWORK)) {
        st = buf_puts(out, ", no sockets");
    }
    if (st == DT_OK && !(rights & DT_NEEDS_WRITE)) {
        st = buf_puts(out, ", no writing");
    }
    return st == DT_OK ? buf_puts(out, ")") : st;
}

int
confine_describe(const struct confine *c, struct buf *out)
{
    int st;

    if (c->is_off) {
        return buf_puts(out, "off (Server.Sandbox)");
    }
    st = describe_landlock(confine_landlock_version(), c->rights, out);
    if (st == DT_OK) {
        st = buf_puts(out, "; ");
    }
    if (st == DT_OK) {
        st = describe_seccomp(c->rights, out);
    }
    if (st == DT_OK && c->rights != 0) {
        st = buf_puts(out, "; granted to plugins: ");
        st = st == DT_OK ? confine_right_names(c->rights, ", ", out) : st;
    }
    return st;
}
