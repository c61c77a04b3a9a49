/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may read what: rules, mode bits, ACLs.
 */
#include "cleanup.h"
#include "permission-mode.h"
#include "permission.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#ifdef HAVE_ACL
#include <sys/acl.h>
#endif

#include <cmocka.h>
/* needs cmocka */
#include "test-tempdir.h"

static struct permission *
rules_of(const char *const *rules)
{
    struct permission *p = NULL;
    struct error err = ERROR_INIT;
    struct strv list = {0};

    for (; *rules; rules++) {
        assert_int_equal(strv_add(&list, *rules), DT_OK);
    }
    if (permission_new("paul", &list, false, &p, &err) != DT_OK) {
        print_error("%s\n", err.text);
    }
    assert_non_null(p);
    strv_fini(&list);
    return p;
}

static void
expect(const struct permission *p, const char *path, int status)
{
    struct error err = ERROR_INIT;
    int got = permission_check(p, -1, path, &err);

    if (got != status) {
        print_error("%s: %s\n", path, err.text);
    }
    assert_int_equal(got, status);
    if (got < 0) {
        assert_non_null(strstr(err.text, path));
    }
}

#define ALLOW DT_OK
#define DENY DT_ERR_ACCES

static void
test_rules(void **state)
{
    struct permission *p = rules_of((const char *const[]){
        "readfiles:^/var/log/.*$", "readfiles:!^/var/log/audit/",
        "readfiles:^journal:nginx\\.service$", "^/srv/a:b/", "!\\.key$", NULL});

    (void)state;
    expect(p, "/var/log/messages", ALLOW);
    expect(p, "/var/log/audit/audit.log", DENY);
    expect(p, "/var/log/x.key", DENY);
    expect(p, "/etc/passwd", DENY);
    expect(p, "/home/var/log/x", DENY);
    expect(p, "journal:nginx.service", ALLOW);
    expect(p, "journal:nginxxservice", DENY);
    expect(p, "/srv/a:b/c", ALLOW); /* no type that we know before the ':' */
    expect(p, "/home/evil\n/var/log/x", DENY);
    expect(p, "/var/log/x\n", DENY);
    expect(p, "/var/log/\xff", ALLOW);
    permission_free(p);
    /* deny wins wherever it stands; unanchored search */
    p = rules_of((const char *const[]){"!secret", "log", NULL});
    expect(p, "/x/log", ALLOW);
    expect(p, "/x/secret.log", DENY);
    permission_free(p);
    p = rules_of((const char *const[]){NULL});
    expect(p, "/x", DENY);
    permission_free(p);
    permission_free(NULL);
}

static void
test_bad_rules(void **state)
{
    static const char *const bad[] = {"readfiles:^/var/(log", "![", "a**",
                                      "(?=x)", "(a)\\1"};
    struct permission *p = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct error err = ERROR_INIT;
        char *rule = (char *)bad[i];
        struct strv list = {.v = &rule, .nr = 1};

        assert_int_equal(permission_new("paul", &list, false, &p, &err),
                         DT_ERR_INVAL);
        assert_null(p);
        assert_non_null(strstr(err.text, bad[i]));
    }
}

static void
test_account(void **state)
{
    struct strv list = {0};
    struct permission *p = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(permission_new("no-such-user-here", &list, true, &p, &err),
                     DT_ERR_NOENT);
    assert_non_null(strstr(err.text, "no-such-user-here"));
    assert_null(p);
    assert_int_equal(permission_new("root", &list, true, &p, &err), DT_OK);
    permission_free(p);
}

/* ---- mode bits ---- */

static int
may_read(uid_t uid, const gid_t *groups, size_t nr, const char *path)
{
    CLEANUP_FD int fd = open(path, O_PATH | O_CLOEXEC);
    struct permission_account *a = NULL;
    struct error err = ERROR_INIT;
    int status;

    assert_true(fd >= 0);
    assert_int_equal(permission_account_from_ids(uid, groups, nr, &a, &err),
                     DT_OK);
    status = permission_mode_check(a, fd, path, &err);
    permission_account_free(a);
    return status;
}

static void
make_owned(uid_t uid, gid_t gid, mode_t mode)
{
    tempdir_write("file", "x", 1);
    if (chown("file", uid, gid) < 0) {
        skip(); /* needs root */
    }
    assert_int_equal(chmod("file", mode), 0);
}

static void
test_mode_bits(void **state)
{
    const gid_t in[] = {7, 2000}, out[] = {7};

    (void)state;
    make_owned(1000, 2000, 0400);
    assert_int_equal(may_read(1000, out, 1, "file"), ALLOW);
    assert_int_equal(may_read(1001, in, 2, "file"), DENY);
    assert_int_equal(may_read(0, in, 2, "file"), DENY); /* root is nobody */
    make_owned(1000, 2000, 0040);
    assert_int_equal(may_read(1000, in, 2, "file"), DENY); /* owner class */
    assert_int_equal(may_read(1001, in, 2, "file"), ALLOW);
    assert_int_equal(may_read(1001, out, 1, "file"), DENY);
    make_owned(1000, 2000, 0004);
    assert_int_equal(may_read(1000, in, 2, "file"), DENY);
    assert_int_equal(may_read(1001, in, 2, "file"), DENY); /* group class */
    assert_int_equal(may_read(1001, out, 1, "file"), ALLOW);
    assert_int_equal(may_read(1001, NULL, 0, "file"), ALLOW);
    make_owned(1000, 2000, 0333);
    assert_int_equal(may_read(1001, out, 1, "file"), DENY);
}

static int
may_search(uid_t uid, const gid_t *groups, size_t nr, const char *path)
{
    struct permission_account *a;
    struct error err = ERROR_INIT;
    int status;

    assert_int_equal(permission_account_from_ids(uid, groups, nr, &a, &err),
                     DT_OK);
    status = permission_mode_check_folders(a, path, &err);
    permission_account_free(a);
    return status;
}

/* The folders above count as they do for the kernel. */
static void
test_folders(void **state)
{
    const gid_t in[] = {2000}, out[] = {7};
    char path[256], through[300];

    snprintf(path, sizeof(path), "%s/a/b/file", (const char *)*state);
    assert_int_equal(mkdir("a", 0700), 0);
    assert_int_equal(mkdir("a/b", 0700), 0);
    if (chown(".", 1000, 2000) < 0 || chown("a", 1000, 2000) < 0 ||
        chown("a/b", 1000, 2000) < 0) {
        skip(); /* needs root */
    }
    assert_int_equal(may_search(1000, out, 1, path), ALLOW);
    assert_int_equal(may_search(1001, in, 1, path), DENY);
    assert_int_equal(chmod(".", 0711) | chmod("a", 0710), 0);
    assert_int_equal(may_search(1001, in, 1, path), DENY);
    assert_int_equal(chmod("a/b", 0754), 0);
    assert_int_equal(may_search(1001, in, 1, path), ALLOW);
    assert_int_equal(may_search(1001, out, 1, path), DENY);
    assert_int_equal(chmod("a", 0701) | chmod("a/b", 0701), 0);
    assert_int_equal(may_search(1001, in, 1, path), DENY); /* group class */
    assert_int_equal(may_search(1001, out, 1, path), ALLOW);
    assert_int_equal(chmod("a/b", 0766), 0); /* reading is not searching */
    assert_int_equal(may_search(1001, out, 1, path), DENY);
    /* no symbolic link is followed: the path is a resolved one */
    assert_int_equal(chmod("a/b", 0755) | symlink("a", "link"), 0);
    snprintf(through, sizeof(through), "%s/link/b/file", (const char *)*state);
    assert_true(may_search(1001, out, 1, through) < 0);
}

#ifdef HAVE_ACL
static void
set_acl(const char *text)
{
    acl_t acl = acl_from_text(text);

    assert_non_null(acl);
    if (acl_set_file("file", ACL_TYPE_ACCESS, acl) < 0) {
        assert_int_equal(errno, ENOTSUP);
        acl_free(acl);
        skip(); /* this file system has none */
    }
    acl_free(acl);
}

static void
test_acl(void **state)
{
    const gid_t in[] = {2000}, named[] = {3000}, both[] = {2000, 3000};
    const gid_t out[] = {7};

    (void)state;
    make_owned(1000, 2000, 0600);
    set_acl("u::rw-,u:1001:r--,u:1002:---,g::---,g:3000:r--,m::r--,o::---");
    assert_int_equal(may_read(1000, out, 1, "file"), ALLOW);
    assert_int_equal(may_read(1001, out, 1, "file"), ALLOW);
    assert_int_equal(may_read(1002, named, 1, "file"), DENY); /* named first */
    assert_int_equal(may_read(1003, named, 1, "file"), ALLOW);
    assert_int_equal(may_read(1003, both, 2, "file"), ALLOW); /* any of them */
    assert_int_equal(may_read(1003, in, 1, "file"), DENY);
    assert_int_equal(may_read(1003, out, 1, "file"), DENY);
    /* the mask takes rights from all but owner and others */
    set_acl("u::r--,u:1001:r--,g::r--,g:3000:r--,m::---,o::r--");
    assert_int_equal(may_read(1000, out, 1, "file"), ALLOW);
    assert_int_equal(may_read(1001, out, 1, "file"), DENY);
    assert_int_equal(may_read(1003, in, 1, "file"), DENY);
    assert_int_equal(may_read(1003, named, 1, "file"), DENY);
    assert_int_equal(may_read(1003, out, 1, "file"), ALLOW);
}
#endif

#define IN_TEMPDIR(f) \
    cmocka_unit_test_setup_teardown(f, tempdir_enter, tempdir_leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),   cmocka_unit_test(test_bad_rules),
        cmocka_unit_test(test_account), IN_TEMPDIR(test_mode_bits),
        IN_TEMPDIR(test_folders),
#ifdef HAVE_ACL
        IN_TEMPDIR(test_acl),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
