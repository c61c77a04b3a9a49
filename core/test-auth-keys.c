/* SPDX-License-Identifier: Apache-2.0
 *
 * authorized_keys: which lines let a key in, which options refuse it, and
 * which files are not trusted. User names as well.
 */
#include "auth-keys.h"
#include "auth.h"
#include "cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ED \
    "AAAAC3NzaC1lZDI1NTE5AAAAIKMnixVTeULgqCC76jpKJGLaq9e26OanTQRJTOrvCX8P"
#define ED2 \
    "AAAAC3NzaC1lZDI1NTE5AAAAIAAAixVTeULgqCC76jpKJGLaq9e26OanTQRJTOrvCX8P"
/* "ssh-dss" and "ssh-ed25519-cert-v01@openssh.com" with a few bytes behind */
#define DSS "AAAAB3NzaC1kc3MAAACBAA=="
#define CERT "AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIA=="

static const struct auth_peer peer4 = {"192.0.2.7", 1700000000};
static const struct auth_peer peer6 = {"2001:db8::5", 1700000000};

static int
search(const char *text, const struct auth_peer *peer)
{
    struct error err = ERROR_INIT;
    unsigned line;

    return auth_keys_search(text, strlen(text), ED, peer, &line, &err);
}

static void
test_plain_lines(void **state)
{
    struct error err = ERROR_INIT;
    unsigned line = 0;
    const char *text = "# comment\n\n  \t\r\nssh-ed25519 " ED2 " other\r\n"
                       "garbage\nssh-ed25519 " ED " me@here\r\n";

    (void)state;
    assert_int_equal(
        auth_keys_search(text, strlen(text), ED, &peer4, &line, &err), DT_OK);
    assert_int_equal(line, 6);
    assert_int_equal(search("", &peer4), DT_ERR_NOENT);
    assert_int_equal(search("ssh-ed25519 " ED, &peer4), DT_OK);
    assert_int_equal(search(" \tssh-ed25519\t " ED "\tx\n", &peer4), DT_OK);
    assert_int_equal(search("ssh-ed25519 " ED2 "\n", &peer4), DT_ERR_NOENT);
    assert_int_equal(search("#ssh-ed25519 " ED "\n", &peer4), DT_ERR_NOENT);
    /* only a part of the key, the key as a comment, without a type */
    assert_int_equal(search("ssh-ed25519 AAAAC3Nza\n", &peer4), DT_ERR_NOENT);
    assert_int_equal(search("ssh-ed25519 " ED2 " " ED "\n", &peer4),
                     DT_ERR_NOENT);
    assert_int_equal(search(ED "\n", &peer4), DT_ERR_NOENT);
    /* the line names another type than the key itself */
    assert_int_equal(search("ssh-rsa " ED "\n", &peer4), DT_ERR_NOENT);
    assert_int_equal(
        search("ssh-ed25519-cert-v01@openssh.com " ED "\n", &peer4),
        DT_ERR_NOENT);
}

static void
test_types(void **state)
{
    struct error err = ERROR_INIT;
    unsigned line;

    (void)state;
    assert_true(auth_keys_type_ok(ED));
    assert_false(auth_keys_type_ok(DSS));
    assert_false(auth_keys_type_ok(CERT));
    assert_false(auth_keys_type_ok(""));
    assert_false(auth_keys_type_ok("AAAA"));
    assert_false(auth_keys_type_ok("/////w=="));
    assert_false(auth_keys_type_ok("AAAAAA=="));
    assert_false(auth_keys_type_ok("not base64 at all"));
    assert_int_equal(
        auth_keys_search("ssh-dss " DSS "\n", 40, DSS, &peer4, &line, &err),
        DT_ERR_ACCES);
}

static void
test_long_line_is_skipped(void **state)
{
    size_t len = AUTH_KEYS_MAX_LINE + 1;
    CLEANUP_FREE char *text = malloc(len + 200);

    (void)state;
    assert_non_null(text);
    memset(text, 'x', len);
    strcpy(text + len, " ssh-ed25519 " ED "\n");
    assert_int_equal(search(text, &peer4), DT_ERR_NOENT);
    strcpy(text + len, "\nssh-ed25519 " ED "\n");
    assert_int_equal(search(text, &peer4), DT_OK);
}

static const struct {
    const char *options;
    const struct auth_peer *peer;
    int want;
} option_cases[] = {
    {"restrict", &peer4, DT_OK},
    {"no-pty,no-port-forwarding,no-agent-forwarding,no-X11-forwarding,"
     "no-user-rc,restrict",
     &peer4, DT_OK},
    {"No-PTY", &peer4, DT_OK},
    {"command=\"/bin/true\"", &peer4, DT_ERR_ACCES},
    {"cert-authority", &peer4, DT_ERR_ACCES},
    {"restrict,cert-authority", &peer4, DT_ERR_ACCES},
    {"environment=\"A=b\"", &peer4, DT_ERR_ACCES},
    {"restrict,pty,port-forwarding,agent-forwarding,X11-forwarding,"
     "user-rc",
     &peer4, DT_OK},
    {"permitopen=\"host:22\",permitlisten=\"8080\",tunnel=\"0\"", &peer4,
     DT_OK},
    {"permitopen", &peer4, DT_ERR_ACCES},
    {"no-touch-required", &peer4, DT_ERR_ACCES},
    {"zos-key-ring-label=\"x\"", &peer4, DT_ERR_ACCES},
    {"verify-required", &peer4, DT_ERR_ACCES},
    {"principals=\"a b\"", &peer4, DT_ERR_ACCES},
    {"from", &peer4, DT_ERR_ACCES},
    {"restrict=\"yes\"", &peer4, DT_ERR_ACCES},
    {"from=192.0.2.7", &peer4, DT_ERR_ACCES},
    {"from=\"192.0.2.7", &peer4, DT_ERR_ACCES},
    {"from=\"192.0.2.7\"x", &peer4, DT_ERR_ACCES},
    {",restrict", &peer4, DT_ERR_ACCES},
    {"restrict,", &peer4, DT_ERR_ACCES},
    {"from=\"192.0.2.7\"", &peer4, DT_OK},
    {"FROM=\"192.0.2.7\",restrict", &peer4, DT_OK},
    {"from=\"192.0.2.70\"", &peer4, DT_ERR_ACCES},
    {"from=\"192.0.2.?\"", &peer4, DT_OK},
    {"from=\"192.0.*\"", &peer4, DT_OK},
    {"from=\"*\"", &peer4, DT_OK},
    {"from=\"!192.0.2.7,*\"", &peer4, DT_ERR_ACCES},
    {"from=\"*,!192.0.2.0/24\"", &peer4, DT_ERR_ACCES},
    {"from=\"!192.0.3.0/24,*\"", &peer4, DT_OK},
    {"from=\"!192.0.2.8\"", &peer4, DT_ERR_ACCES},
    {"from=\"10.0.0.0/8,192.0.2.0/29\"", &peer4, DT_OK},
    {"from=\"192.0.2.8/29\"", &peer4, DT_ERR_ACCES},
    {"from=\"0.0.0.0/0\"", &peer4, DT_OK},
    {"from=\"192.0.2.7/32\"", &peer4, DT_OK},
    {"from=\"192.0.2.7/33\"", &peer4, DT_ERR_ACCES},
    {"from=\"192.0.2.7/\"", &peer4, DT_ERR_ACCES},
    {"from=\"192.0.2.7/x\"", &peer4, DT_ERR_ACCES},
    {"from=\"*,!evil.example.net\"", &peer4, DT_ERR_ACCES},
    {"from=\"*,host.example.net\"", &peer4, DT_ERR_ACCES},
    {"from=\"\"", &peer4, DT_ERR_ACCES},
    {"from=\"192.0.2.7,\"", &peer4, DT_ERR_ACCES},
    {"from=\"2001:db8::/32\"", &peer6, DT_OK},
    {"from=\"2001:DB8::5\"", &peer6, DT_OK},
    {"from=\"2001:db8::6\"", &peer6, DT_ERR_ACCES},
    {"from=\"0.0.0.0/0\"", &peer6, DT_ERR_ACCES},
    {"expiry-time=\"20231115\"", &peer4, DT_OK},
    {"expiry-time=\"20231114000000Z\"", &peer4, DT_ERR_ACCES},
    {"expiry-time=\"202311142213Z\"", &peer4, DT_ERR_ACCES},
    {"expiry-time=\"20231114221321Z\"", &peer4, DT_OK},
    {"expiry-time=\"20231114221320Z\"", &peer4, DT_ERR_ACCES},
    {"expiry-time=\"2023\"", &peer4, DT_ERR_ACCES},
    {"expiry-time=\"20990231\"", &peer4, DT_ERR_ACCES},
    {"expiry-time=\"209901012560\"", &peer4, DT_ERR_ACCES},
    {"expiry-time=\"20990101ZZ\"", &peer4, DT_ERR_ACCES},
    {"from=\"192.0.2.7\",expiry-time=\"20200101\"", &peer4, DT_ERR_ACCES},
};

static void
test_options(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < sizeof(option_cases) / sizeof(*option_cases); i++) {
        char line[512];
        int got;

        snprintf(line, sizeof(line), "%s ssh-ed25519 " ED " c\n",
                 option_cases[i].options);
        got = search(line, option_cases[i].peer);
        /* An unclosed quote swallows the key: not found is as good. */
        if (got != option_cases[i].want &&
            !(option_cases[i].want == DT_ERR_ACCES && got == DT_ERR_NOENT &&
              strstr(line, "7 ssh"))) {
            fail_msg("options %s: got %d, want %d", option_cases[i].options,
                     got, option_cases[i].want);
        }
    }
}

static void
test_option_text(void **state)
{
    struct error err = ERROR_INIT;
    char value[6000];

    (void)state;
    assert_int_equal(auth_options_span("a=\"x \\\" y\",b key", 16), 12);
    assert_int_equal(auth_options_span("", 0), 0);
    /* a later line may allow what an earlier one refuses */
    assert_int_equal(
        search("command=\"x\" ssh-ed25519 " ED "\nssh-ed25519 " ED, &peer4),
        DT_OK);
    assert_int_equal(auth_options_check("command=\"a\\\"b\"", 14, &peer4, &err),
                     DT_ERR_ACCES);
    assert_string_equal(err.text, "option \"command\" is not supported");
    memset(value, '1', sizeof(value));
    memcpy(value, "from=\"", 6);
    value[sizeof(value) - 1] = '"';
    assert_int_equal(auth_options_check(value, sizeof(value), &peer4, &err),
                     DT_ERR_ACCES);
}

/* ---- files ---- */

struct files {
    char dir[64];
    char file[96];
};

static int
files_setup(void **state)
{
    struct files *f = calloc(1, sizeof(*f));
    int fd;

    if (!f) {
        return -1;
    }
    strcpy(f->dir, "test-auth-XXXXXX");
    if (!mkdtemp(f->dir)) {
        free(f);
        return -1;
    }
    snprintf(f->file, sizeof(f->file), "%s/keys", f->dir);
    fd = open(f->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    close(fd);
    *state = f;
    return fd < 0 ? -1 : 0;
}

static int
files_teardown(void **state)
{
    struct files *f = *state;

    chmod(f->dir, 0700);
    unlink(f->file);
    rmdir(f->dir);
    free(f);
    return 0;
}

static int
try_open(const struct files *f, uid_t owner, const char *above)
{
    const struct auth_keys_owners owners = {owner, owner};
    struct error err = ERROR_INIT;
    int fd = auth_keys_open(f->dir, "keys", &owners, above, &err);

    if (fd >= 0) {
        close(fd);
        return DT_OK;
    }
    assert_true(err.text[0]);
    return fd;
}

static void
test_modes(void **state)
{
    struct files *f = *state;
    uid_t me = geteuid();

    assert_int_equal(try_open(f, me, NULL), DT_OK);
    assert_int_equal(try_open(f, me, f->dir), DT_OK);
    chmod(f->file, 0620);
    assert_int_equal(try_open(f, me, NULL), DT_ERR_ACCES);
    chmod(f->file, 0602);
    assert_int_equal(try_open(f, me, NULL), DT_ERR_ACCES);
    chmod(f->file, 0644);
    assert_int_equal(try_open(f, me, NULL), DT_OK);
    chmod(f->dir, 0770);
    assert_int_equal(try_open(f, me, NULL), DT_ERR_ACCES);
    chmod(f->dir, 0700);
    if (me != 0) {
        assert_int_equal(try_open(f, me + 1, NULL), DT_ERR_ACCES);
    } else {
        assert_int_equal(chown(f->file, 12345, 0), 0);
        assert_int_equal(try_open(f, 12346, NULL), DT_ERR_ACCES);
        assert_int_equal(try_open(f, 12345, NULL), DT_OK);
    }
}

static void
test_kinds_of_file(void **state)
{
    struct files *f = *state;
    uid_t me = geteuid();

    unlink(f->file);
    assert_int_equal(try_open(f, me, NULL), DT_ERR_NOENT);
    assert_int_equal(symlink("/etc/passwd", f->file), 0);
    assert_int_equal(try_open(f, me, NULL), DT_ERR_ACCES);
    unlink(f->file);
    assert_int_equal(mkfifo(f->file, 0600), 0);
    assert_int_equal(try_open(f, me, NULL), DT_ERR_ACCES);
}

static void
test_size_limit(void **state)
{
    struct files *f = *state;
    CLEANUP_FD int fd = open(f->file, O_RDWR | O_CLOEXEC);
    struct error err = ERROR_INIT;
    char *text = NULL;
    size_t len = 0;

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, AUTH_KEYS_MAX_FILE), 0);
    assert_int_equal(auth_keys_read(fd, &text, &len, &err), DT_OK);
    assert_int_equal(len, AUTH_KEYS_MAX_FILE);
    free(text);
    assert_int_equal(ftruncate(fd, AUTH_KEYS_MAX_FILE + 1), 0);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(auth_keys_read(fd, &text, &len, &err), DT_ERR_LIMIT);
}

static void
test_user_names(void **state)
{
    static const char *const good[] = {"a",   "alice",    "svc-x_1",
                                       "b.c", "dom+user", "$x"};
    static const char *const bad[] = {"",     ".",    "..",  "../x",
                                      "a/b",  "a..b", "/",   "a\nb",
                                      "\x7f", "\x01", "a\tb"};
    char longest[BROKER_MAX_USER + 2];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_int_equal(auth_check_user(good[i], NULL), DT_OK);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(auth_check_user(bad[i], NULL), DT_ERR_INVAL);
    }
    memset(longest, 'u', sizeof(longest));
    longest[BROKER_MAX_USER + 1] = '\0';
    assert_int_equal(auth_check_user(longest, NULL), DT_ERR_INVAL);
    longest[BROKER_MAX_USER] = '\0';
    assert_int_equal(auth_check_user(longest, NULL), DT_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_lines),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_long_line_is_skipped),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_option_text),
        cmocka_unit_test_setup_teardown(test_modes, files_setup,
                                        files_teardown),
        cmocka_unit_test_setup_teardown(test_kinds_of_file, files_setup,
                                        files_teardown),
        cmocka_unit_test_setup_teardown(test_size_limit, files_setup,
                                        files_teardown),
        cmocka_unit_test(test_user_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
