/* SPDX-License-Identifier: Apache-2.0
 *
 * ssh_config: each setting goes where ssh would take it from; what cannot be
 * honoured is an error with file and line.
 */
#include "sshconfig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char home[] = "/tmp/test-sshconfig-XXXXXX";
static char path[64], other[64];

static void
write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(name, 0600), 0);
}

static int
load(const char *text, struct sshconfig **s, struct error *err)
{
    const struct sshconfig_args args = {path, home, "joe", "desk.example"};

    write_file(path, text);
    return sshconfig_load(&args, s, err);
}

/* What a text says of a host. */
static struct sshconfig_host
said(const char *text, const char *name)
{
    struct sshconfig_host h;
    struct sshconfig *s;
    struct error err = ERROR_INIT;

    if (load(text, &s, &err) != DT_OK ||
        sshconfig_lookup(s, name, "", 0, 2222, &h, &err) != DT_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    sshconfig_free(s);
    return h;
}

static void
refused(const char *text, const char *what)
{
    struct sshconfig_host h;
    struct sshconfig *s;
    struct error err = ERROR_INIT;

    if (load(text, &s, &err) == DT_OK) {
        assert_int_equal(sshconfig_lookup(s, "web1", "", 0, 2222, &h, &err),
                         DT_ERR_INVAL);
        sshconfig_free(s);
    }
    if (!strstr(err.text, what)) {
        fail_msg("%s: %s", text, err.text);
    }
}

static void
test_host(void **state)
{
    static const char text[] = "# comment\n"
                               "User nobody\n"
                               "Host web? !web9\n"
                               "  HostName=%h.example.net\n"
                               "  Port 2200\r\n"
                               "\tUser \"web user\"\n"
                               "  IdentityFile ~/.ssh/web_%u\n"
                               "  IdentityFile %d/two\n"
                               "Host WEB1 other\n"
                               "  Port 1\n"
                               "  UserKnownHostsFile ~/a %d/b\n"
                               "  ConnectTimeout 7\n"
                               "  IdentitiesOnly yes\n"
                               "  AddressFamily inet6\n"
                               "  StrictHostKeyChecking accept-new\n"
                               "  HostKeyAlias alias\n"
                               "  IdentityFile ~/.ssh/web_joe\n"
                               "Host *\n"
                               "  SendEnv LANG LC_*\n"
                               "  GSSAPIAuthentication yes\n";
    struct sshconfig_host h = said(text, "web1");
    char want[128];

    (void)state;
    assert_string_equal(h.host_name, "web1.example.net");
    assert_int_equal(h.port, 2200);
    assert_string_equal(h.user, "nobody"); /* the first one counts */
    assert_int_equal(h.identities.nr, 2);
    snprintf(want, sizeof(want), "%s/.ssh/web_joe", home);
    assert_string_equal(h.identities.v[0], want);
    snprintf(want, sizeof(want), "%s/b", home);
    assert_string_equal(h.known_hosts.v[1], want);
    assert_int_equal(h.connect_ms, 7000);
    assert_true(h.identities_only);
    assert_int_equal(h.family, AF_INET6);
    assert_int_equal(h.strict, SSHCONFIG_ACCEPT);
    assert_string_equal(h.key_alias, "alias");
    assert_null(h.proxy);
    sshconfig_host_fini(&h);
    h = said(text, "Web9");
    assert_string_equal(h.host_name, "Web9");
    assert_int_equal(h.port, 0);
    assert_int_equal(h.identities.nr, 0);
    sshconfig_host_fini(&h);
    h = said("Host a\nUser x\nHost b \"web user\"\nUser \"y z\" # why\n", "b");
    assert_string_equal(h.user, "y z");
    sshconfig_host_fini(&h);
}

static void
test_match(void **state)
{
    static const char text[] = "Host short\n HostName long.example\n"
                               "Match host *.example user joe\n Port 1\n"
                               "Match originalhost short !user joe\n Port 2\n"
                               "Match final all\n Port 3\n User final\n"
                               "Match canonical\n Port 4\n"
                               "Match localuser joe exec \"true\"\n Port 5\n";
    struct sshconfig_host h;
    struct sshconfig *s;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(load(text, &s, &err), DT_OK);
    /* "exec" is reached, and nobody here runs it. */
    assert_int_equal(sshconfig_lookup(s, "short", "", 0, 2222, &h, &err),
                     DT_ERR_INVAL);
    assert_non_null(strstr(err.text, "line 12: Match exec"));
    sshconfig_free(s);
    h = said("Host short\n HostName long.example\n"
             "Match host *.example user joe\n Port 1\n"
             "Match final all\n Port 3\n User final\n"
             "Match localuser jim exec \"true\"\n Port 5\n",
             "short");
    assert_int_equal(h.port, 1);
    assert_string_equal(h.user, "final");
    sshconfig_host_fini(&h);
    /* The user of the command line is the one to match. */
    err = (struct error)ERROR_INIT;
    assert_int_equal(
        load("Match user root\n Port 9\nMatch !user root\n Port 8\n", &s, &err),
        DT_OK);
    assert_int_equal(sshconfig_lookup(s, "x", "root", 0, 2222, &h, &err),
                     DT_OK);
    assert_int_equal(h.port, 9);
    sshconfig_host_fini(&h);
    sshconfig_free(s);
}

static void
test_include(void **state)
{
    char text[256];
    struct sshconfig_host h;

    (void)state;
    write_file(other, "User inner\nHost web1\n Port 3\n");
    snprintf(text, sizeof(text),
             "Host db*\n Include %s\n Port 4\nHost web*\n"
             " Include %s /no/such*\n Port 5\n",
             other, other);
    h = said(text, "web2"); /* the block goes on behind the file */
    assert_string_equal(h.user, "inner");
    assert_int_equal(h.port, 5);
    sshconfig_host_fini(&h);
    h = said(text, "web1");
    assert_int_equal(h.port, 3);
    sshconfig_host_fini(&h);
    h = said(text, "x");
    assert_null(h.user);
    assert_int_equal(h.port, 0);
    sshconfig_host_fini(&h);
    /* A file that includes itself comes to an end. */
    snprintf(text, sizeof(text), "Include %s\n", other);
    write_file(other, text);
    refused(text, "too many files within files");
}

static void
test_proxy(void **state)
{
    struct sshconfig_host h;
    char want[256];

    (void)state;
    h = said("ProxyCommand exec nc -q0 %h %p # %%\nHost web1\nHostName h\n",
             "web1");
    assert_string_equal(h.proxy, "exec nc -q0 h 2222 # %");
    sshconfig_host_fini(&h);
    h = said("ProxyJump none\nProxyCommand x\n", "web1");
    assert_null(h.proxy);
    sshconfig_host_fini(&h);
    h = said("ProxyJump a,joe@b:22\nPort 7\n", "::1");
    snprintf(want, sizeof(want),
             "exec ssh -F '%s' -J a -W '[::1]:7' -- ssh://joe@b:22", path);
    assert_string_equal(h.proxy, want);
    sshconfig_host_fini(&h);
    refused("HostName a;b\nProxyCommand nc %h\n", "line 2: ProxyCommand");
    refused("User $(x)\nProxyCommand nc %h\n", "line 2: ProxyCommand");
    refused("ProxyJump \"a;b\"\n", "line 1: ProxyJump");
    refused("ProxyJump -oX\n", "line 1: ProxyJump");
    refused("ProxyCommand nc %C\n", "line 1: ProxyCommand: a token");
}

static void
test_agent(void **state)
{
    struct sshconfig_host h = said("IdentityAgent none\n", "x");

    (void)state;
    assert_string_equal(h.identity_agent, "");
    sshconfig_host_fini(&h);
    setenv("DTAIL_TEST_AGENT", "/a/b", 1);
    h = said("IdentityAgent $DTAIL_TEST_AGENT\n", "x");
    assert_string_equal(h.identity_agent, "/a/b");
    sshconfig_host_fini(&h);
    h = said("IdentityAgent ${DTAIL_TEST_AGENT}/c\n", "x");
    assert_string_equal(h.identity_agent, "/a/b/c");
    sshconfig_host_fini(&h);
    h = said("IdentityAgent SSH_AUTH_SOCK\n", "x");
    assert_null(h.identity_agent);
    sshconfig_host_fini(&h);
}

static void
test_refused(void **state)
{
    (void)state;
    refused("Port 0\n", "line 1: Port: 1 to 65535");
    refused("\nPort x\n", "line 2: Port");
    refused("Port\n", "line 1: Port without a value");
    refused("ConnectTimeout -1\n", "line 1: ConnectTimeout");
    refused("AddressFamily ipx\n", "line 1: AddressFamily");
    refused("StrictHostKeyChecking maybe\n", "line 1: StrictHostKeyChecking");
    refused("RevokedHostKeys /x\n", "line 1: RevokedHostKeys");
    refused("KnownHostsCommand /x\n", "line 1: KnownHostsCommand");
    refused("BindAddress 1.2.3.4\n", "line 1: BindAddress");
    refused("CanonicalizeHostname yes\n", "CanonicalizeHostname");
    refused("Match host\n", "line 1: Match");
    refused("Match exec true\n", "line 1: Match exec");
    refused("IdentityFile ~bob/x\n", "IdentityFile");
    refused("User \"x\n", "line 1: a quote");
    /* Only what is for this host counts. */
    struct sshconfig_host h = said("Host db\nRevokedHostKeys /x\nPort 0\n"
                                   "Host *\nKnownHostsCommand none\n",
                                   "web1");
    sshconfig_host_fini(&h);
}

static void
test_files(void **state)
{
    struct sshconfig_args args = {other, home, "joe", "desk"};
    struct sshconfig *s;
    struct error err = ERROR_INIT;

    (void)state;
    unlink(other);
    assert_int_equal(sshconfig_load(&args, &s, &err), DT_ERR_NOENT);
    assert_non_null(strstr(err.text, other));
    write_file(other, "Port 1\n");
    assert_int_equal(chmod(other, 0620), 0);
    err = (struct error)ERROR_INIT;
    assert_int_equal(sshconfig_load(&args, &s, &err), DT_ERR_ACCES);
    assert_non_null(strstr(err.text, "others may write"));
    /* No file at all is nothing to say. */
    args.path = "";
    err = (struct error)ERROR_INIT;
    assert_int_equal(sshconfig_load(&args, &s, &err), DT_OK);
    sshconfig_free(s);
}

static int
set_up(void **state)
{
    (void)state;
    if (!mkdtemp(home)) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/config", home);
    snprintf(other, sizeof(other), "%s/other", home);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(home);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),    cmocka_unit_test(test_match),
        cmocka_unit_test(test_include), cmocka_unit_test(test_proxy),
        cmocka_unit_test(test_agent),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
