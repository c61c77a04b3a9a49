/* SPDX-License-Identifier: Apache-2.0
 *
 * What is put on which process, and the words for it.
 */
#include "confine.h"

#include "dtail/plugin.h"

#include <string.h>

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

static bool
is_off(const char *mode)
{
    return strcmp(mode, "off") == 0;
}

int
confine_check(const char *mode, struct error *err)
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
confine(enum confine_role role, uint32_t rights, const char *mode,
        struct error *err)
{
    int st;

    if (is_off(mode)) {
        return DT_OK;
    }
    st = confine_check(mode, err);
    /* Landlock first: its system calls are none that the filter lets by. */
    if (st == DT_OK && confine_landlock_version() > 0) {
        st = confine_landlock(role, rights, err);
    }
    if (st == DT_OK && confine_has_seccomp()) {
        st = confine_seccomp(role, rights, err);
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
confine_describe(const char *mode, uint32_t rights, struct buf *out)
{
    int st;

    if (is_off(mode)) {
        return buf_puts(out, "off (Server.Sandbox)");
    }
    st = describe_landlock(confine_landlock_version(), rights, out);
    if (st == DT_OK) {
        st = buf_puts(out, "; ");
    }
    if (st == DT_OK) {
        st = describe_seccomp(rights, out);
    }
    if (st == DT_OK && rights != 0) {
        st = buf_puts(out, "; granted to plugins: ");
        st = st == DT_OK ? confine_right_names(rights, ", ", out) : st;
    }
    return st;
}
