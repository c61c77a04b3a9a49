/* SPDX-License-Identifier: Apache-2.0
 *
 * Mode bits and POSIX ACLs (acl(5), access check algorithm).
 */
#include "permission-mode.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#ifdef HAVE_ACL
#include <acl/libacl.h>
#include <sys/acl.h>
#else
#include <sys/xattr.h>
#endif

#define ACCOUNT_MAX_GROUPS 65536
#define ACCOUNT_MAX_RECORD (1u << 20) /* bytes of a passwd entry */

struct permission_account {
    uid_t uid;
    size_t nr_groups;
    gid_t groups[];
};

/* ---- accounts ---- */

int
permission_account_from_ids(uid_t uid, const gid_t *groups, size_t nr,
                            struct permission_account **out, struct error *err)
{
    struct permission_account *a = malloc(sizeof(*a) + nr * sizeof(*groups));

    if (!a) {
        return error_set(err, DT_ERR_NOMEM, "out of memory");
    }
    a->uid = uid;
    a->nr_groups = nr;
    if (nr) {
        memcpy(a->groups, groups, nr * sizeof(*groups));
    }
    *out = a;
    return DT_OK;
}

static int
look_up_groups(const char *user, uid_t uid, gid_t primary,
               struct permission_account **out, struct error *err)
{
    CLEANUP_FREE gid_t *groups = NULL;
    int nr = 64;

    for (;;) {
        int room = nr;
        gid_t *more = reallocarray(groups, (size_t)room, sizeof(*groups));

        if (!more) {
            return error_set(err, DT_ERR_NOMEM, "out of memory");
        }
        groups = more;
        if (getgrouplist(user, primary, groups, &nr) >= 0) {
            return permission_account_from_ids(uid, groups, (size_t)nr, out,
                                               err);
        }
        nr = nr > room ? nr : room * 2;
        if (nr > ACCOUNT_MAX_GROUPS) {
            return error_set(err, DT_ERR_LIMIT,
                             "user %s is in more than %d groups", user,
                             ACCOUNT_MAX_GROUPS);
        }
    }
}

int
permission_account_new(const char *user, struct permission_account **out,
                       struct error *err)
{
    CLEANUP_FREE char *record = NULL;
    struct passwd entry, *found = NULL;
    size_t cap = 4096;
    int status;

    do {
        char *more = realloc(record, cap);

        if (!more) {
            return error_set(err, DT_ERR_NOMEM, "out of memory");
        }
        record = more;
        status = getpwnam_r(user, &entry, record, cap, &found);
        cap *= 2;
    } while (status == EINTR || (status == ERANGE && cap < ACCOUNT_MAX_RECORD));
    if (status != 0) {
        error_errno(err, status, "user %s cannot be looked up", user);
        return DT_ERR_IO;
    }
    if (!found) {
        return error_set(err, DT_ERR_NOENT, "user %s has no account here",
                         user);
    }
    return look_up_groups(user, entry.pw_uid, entry.pw_gid, out, err);
}

void
permission_account_free(struct permission_account *a)
{
    free(a);
}

static bool
is_in_group(const struct permission_account *a, gid_t gid)
{
    for (size_t i = 0; i < a->nr_groups; i++) {
        if (a->groups[i] == gid) {
            return true;
        }
    }
    return false;
}

/* ---- the decision ---- */

/* What is asked for, in the bits of "others". */
#define PERM_READ 4u
#define PERM_SEARCH 1u /* of folders */

/* What the entries say about one account. */
struct verdict {
    bool is_owner, owner;
    bool is_named, named;
    bool is_grouped, group; /* in a group with an entry; one of them allows */
    bool mask;
    bool other;
};

static bool
is_allowed(const struct verdict *v)
{
    if (v->is_owner) {
        return v->owner;
    }
    if (v->is_named) {
        return v->named && v->mask;
    }
    if (v->is_grouped) {
        return v->group && v->mask;
    }
    return v->other;
}

static struct verdict
judge_mode(const struct permission_account *a, const struct stat *st,
           unsigned perm)
{
    return (struct verdict){.is_owner = st->st_uid == a->uid,
                            .owner = st->st_mode & perm << 6,
                            .is_grouped = is_in_group(a, st->st_gid),
                            .group = st->st_mode & perm << 3,
                            .mask = true,
                            .other = st->st_mode & perm};
}

#ifdef HAVE_ACL
static bool
entry_allows(acl_entry_t entry, unsigned perm)
{
    acl_permset_t set;

    return acl_get_permset(entry, &set) == 0 &&
           acl_get_perm(set, perm == PERM_READ ? ACL_READ : ACL_EXECUTE) == 1;
}

static void
judge_entry(const struct permission_account *a, acl_entry_t entry,
            const struct stat *st, unsigned perm, struct verdict *v)
{
    bool allows = entry_allows(entry, perm);
    acl_tag_t tag;
    void *id = NULL;

    if (acl_get_tag_type(entry, &tag) < 0) {
        return;
    }
    if (tag == ACL_USER || tag == ACL_GROUP) {
        id = acl_get_qualifier(entry);
        if (!id) {
            return;
        }
    }
    if (tag == ACL_USER_OBJ) {
        v->owner = allows;
    } else if (tag == ACL_USER && *(uid_t *)id == a->uid) {
        v->is_named = true;
        v->named = allows;
    } else if (tag == ACL_GROUP_OBJ && is_in_group(a, st->st_gid)) {
        v->is_grouped = true;
        v->group |= allows;
    } else if (tag == ACL_GROUP && is_in_group(a, *(gid_t *)id)) {
        v->is_grouped = true;
        v->group |= allows;
    } else if (tag == ACL_MASK) {
        v->mask = allows;
    } else if (tag == ACL_OTHER) {
        v->other = allows;
    }
    if (id) {
        acl_free(id);
    }
}
#endif

/* Fills the verdict from the file's ACL. DT_OK; DT_STOP: it has none; or an
 * error. `name` leads to the file of the descriptor through /proc, since
 * calls on an O_PATH descriptor itself are refused. */
static int
judge_acl(const struct permission_account *a, const char *name,
          const struct stat *st, unsigned perm, struct verdict *v)
{
    bool is_absent;

#ifdef HAVE_ACL
    acl_t acl = acl_get_file(name, ACL_TYPE_ACCESS);
    acl_entry_t entry;

    if (acl) {
        *v = (struct verdict){.is_owner = st->st_uid == a->uid, .mask = true};
        for (int which = ACL_FIRST_ENTRY;
             acl_get_entry(acl, which, &entry) == 1; which = ACL_NEXT_ENTRY) {
            judge_entry(a, entry, st, perm, v);
        }
        acl_free(acl);
        return DT_OK;
    }
#else
    (void)a;
    (void)st;
    (void)perm;
    (void)v;
    if (getxattr(name, "system.posix_acl_access", NULL, 0) >= 0) {
        errno = EPERM; /* this build cannot judge it */
    }
#endif
    is_absent = errno == ENOTSUP || errno == ENODATA || errno == ENOSYS;
    return is_absent ? DT_STOP : DT_ERR_ACCES;
}

/* DT_OK, or DT_ERR_ACCES. */
static int
judge(const struct permission_account *a, int fd, unsigned perm,
      const char *path, struct error *err)
{
    struct verdict v;
    struct stat st;
    char name[32];
    int status;

    if (fstat(fd, &st) < 0) {
        return error_errno(err, errno, "%s: cannot be examined", path);
    }
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    status = judge_acl(a, name, &st, perm, &v);
    if (status == DT_STOP) {
        v = judge_mode(a, &st, perm);
    } else if (status != DT_OK) {
        return error_set(err, DT_ERR_ACCES, "%s: its ACL cannot be judged",
                         path);
    }
    return is_allowed(&v) ? DT_OK
                          : error_set(err, DT_ERR_ACCES,
                                      "%s: mode bits or ACL forbid it", path);
}

int
permission_mode_check(const struct permission_account *a, int fd,
                      const char *path, struct error *err)
{
    return judge(a, fd, PERM_READ, path, err);
}

int
permission_mode_check_folders(const struct permission_account *a,
                              const char *path, struct error *err)
{
    CLEANUP_FD int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    CLEANUP_FREE char *copy = strdup(path);
    char *at = copy, *slash;
    int status;

    if (!copy || dir < 0) {
        return error_set(err, DT_ERR_NOMEM, "%s: out of memory", path);
    }
    status = judge(a, dir, PERM_SEARCH, "/", err);
    while (status == DT_OK && (slash = strchr(at + 1, '/'))) {
        int next;

        *slash = '\0';
        next =
            openat(dir, at + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0) {
            return error_errno(err, errno, "%s: folder %s", path, copy);
        }
        close(dir);
        dir = next;
        status = judge(a, dir, PERM_SEARCH, copy, err);
        *slash = '/';
        at = slash;
    }
    if (status != DT_OK) {
        error_prefix(err, "%s: folder", path);
    }
    return status;
}
