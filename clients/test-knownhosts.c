/* SPDX-License-Identifier: Apache-2.0
 *
 * known_hosts: a table of files and questions, hashed lines as ssh-keygen
 * writes them, and what is added is found again.
 */
#include "knownhosts.h"

#include "cleanup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#define ED "ssh-ed25519"
#define RSA "ssh-rsa"
#define KEY_A "AAAAC3NzaC1lZDI1NTE5AAAAIAAA"
#define KEY_B "AAAAC3NzaC1lZDI1NTE5AAAAIBBB"
#define KEY_R "AAAAB3NzaC1yc2EAAAADAQABRRRR"

static const char file_text[] =
    "# comment\n"
    "\n"
    "web1 " ED " " KEY_A " joe@laptop\n"
    "web2,10.0.0.2,[web2]:2222 " RSA " " KEY_R "\r\n"
    "[web3]:2222 " ED " " KEY_A "\n"
    "[web3]:2222 " RSA " " KEY_R "\n"
    "*.example.net,!bad.example.net " ED " " KEY_A "\n"
    "[db?.local]:2222 " ED "\t" KEY_B "\n"
    "@revoked * " ED " AAAArevoked\n"
    "@cert-authority *.ca " ED " " KEY_A "\n"
    "@unknown web9 " ED " " KEY_A "\n"
    "old 1024 35 12345\n"
    "short " ED "\n"
    "dss ssh-dss AAAAdss\n"
    "2001:db8::1 " ED " " KEY_A "\n"
    "WEB5 " ED " " KEY_A "\n"
    "web1 " ED " " KEY_B "\n"
    "last " ED " " KEY_A;

static const struct {
    const char *host;
    uint16_t port;
    const char *type, *key;
    enum knownhosts_verdict want;
    size_t line;
} cases[] = {
    {"web1", 22, ED, KEY_A, KNOWNHOSTS_OK, 3},
    {"web1", 22, ED, KEY_B, KNOWNHOSTS_OK, 17},
    {"WEB1", 22, ED, KEY_A, KNOWNHOSTS_OK, 3},
    {"web5", 22, ED, KEY_A, KNOWNHOSTS_OK, 16},
    {"web1", 22, ED, "AAAAother", KNOWNHOSTS_CHANGED, 3},
    /* known without a port: good, but no evidence against another key */
    {"web1", 2222, ED, KEY_A, KNOWNHOSTS_OK, 3},
    {"web1", 2222, ED, "AAAAother", KNOWNHOSTS_UNKNOWN, 0},
    {"web2", 2222, RSA, KEY_R, KNOWNHOSTS_OK, 4},
    {"10.0.0.2", 22, RSA, KEY_R, KNOWNHOSTS_OK, 4},
    /* another type than the one that is known: asked for it in vain */
    {"web2", 22, ED, KEY_A, KNOWNHOSTS_CHANGED, 4},
    {"web3", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 0},
    {"web3", 2222, ED, KEY_A, KNOWNHOSTS_OK, 5},
    {"web3", 2222, RSA, KEY_R, KNOWNHOSTS_OK, 6},
    {"web3", 2222, ED, KEY_B, KNOWNHOSTS_CHANGED, 5},
    {"a.example.net", 22, ED, KEY_A, KNOWNHOSTS_OK, 7},
    {"a.b.example.net", 22, ED, KEY_A, KNOWNHOSTS_OK, 7},
    {"bad.example.net", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 0},
    {"example.net", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 0},
    {"db7.local", 2222, ED, KEY_B, KNOWNHOSTS_OK, 8},
    {"db77.local", 2222, ED, KEY_B, KNOWNHOSTS_UNKNOWN, 0},
    {"nobody", 2222, ED, "AAAArevoked", KNOWNHOSTS_REVOKED, 9},
    {"web1", 22, ED, "AAAArevoked", KNOWNHOSTS_REVOKED, 9},
    /* an authority's line makes no host known, and is told */
    {"x.ca", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 10},
    {"x.ca", 2222, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 10},
    {"web9", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 0},
    {"old", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 0},
    {"short", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 0},
    {"dss", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 0},
    {"2001:db8::1", 22, ED, KEY_A, KNOWNHOSTS_OK, 15},
    {"last", 22, ED, KEY_A, KNOWNHOSTS_OK, 18},
    {"las", 22, ED, KEY_A, KNOWNHOSTS_UNKNOWN, 0},
};

struct fixture {
    char dir[32];
    char path[64];
};

static void
write_file(const char *path, const char *text)
{
    CLEANUP_FILE FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_not_equal(fputs(text, f), EOF);
}

static int
set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    strcpy(f->dir, "/tmp/test-kh-XXXXXX");
    if (!mkdtemp(f->dir)) {
        return -1;
    }
    snprintf(f->path, sizeof(f->path), "%s/known_hosts", f->dir);
    *state = f;
    return 0;
}

static int
run(const char *const *argv)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);

        dup2(null, 1);
        dup2(null, 2);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    const char *argv[] = {"rm", "-rf", f->dir, NULL};

    run(argv);
    free(f);
    return 0;
}

static struct knownhosts *
load(const char *path)
{
    struct strv paths = {0};
    struct knownhosts *k = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(strv_add(&paths, "/nonexistent/known_hosts"), DT_OK);
    assert_int_equal(strv_add(&paths, path), DT_OK);
    assert_int_equal(knownhosts_load(&paths, &k, &err), DT_OK);
    strv_fini(&paths);
    return k;
}

/* Lines are only compared when the file is as it was written. */
static void
check_all(struct knownhosts *k, const char *path, bool lines)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct knownhosts_where where;
        enum knownhosts_verdict got =
            knownhosts_check(k, cases[i].host, cases[i].port, cases[i].type,
                             cases[i].key, &where);

        if (got != cases[i].want || (lines && where.line != cases[i].line)) {
            fail_msg("case %zu (%s:%u): verdict %d, line %zu", i, cases[i].host,
                     cases[i].port, (int)got, where.line);
        }
        if (cases[i].want != KNOWNHOSTS_UNKNOWN) {
            assert_string_equal(where.file, path);
        }
    }
}

static void
test_table(void **state)
{
    struct fixture *f = *state;
    struct knownhosts *k;

    write_file(f->path, file_text);
    k = load(f->path);
    check_all(k, f->path, true);
    knownhosts_free(k);
}

/* ssh-keygen -H hashes what it can; the answers must not change. */
static void
test_hashed(void **state)
{
    struct fixture *f = *state;
    const char *argv[] = {"ssh-keygen", "-H", "-f", f->path, NULL};
    const char *gen[] = {"ssh-keygen", "-q", "-t", "ed25519", "-N",
                         "",           "-f", NULL, NULL};
    char key_path[64], line[700], type[32], key[256], names[128];
    struct knownhosts_where where;
    struct knownhosts *k;

    /* ssh-keygen drops lines whose keys are no keys: make a real one. */
    snprintf(key_path, sizeof(key_path), "%s/key", f->dir);
    gen[7] = key_path;
    if (run(gen) == 127) {
        skip();
    }
    strcat(key_path, ".pub");
    FILE *pub = fopen(key_path, "r");
    assert_non_null(pub);
    assert_int_equal(fscanf(pub, "%31s %255s", type, key), 2);
    fclose(pub);
    snprintf(line, sizeof(line), "web1 %s %s\n[web3]:2222,x %s %s\n", type, key,
             type, key);
    write_file(f->path, line);
    assert_int_equal(run(argv), 0);
    FILE *hashed = fopen(f->path, "r");
    assert_int_equal(fscanf(hashed, "%127s", names), 1);
    fclose(hashed);
    assert_memory_equal(names, "|1|", 3);

    k = load(f->path);
    assert_int_equal(knownhosts_check(k, "Web1", 22, type, key, &where),
                     KNOWNHOSTS_OK);
    assert_int_equal(where.line, 1);
    assert_int_equal(knownhosts_check(k, "web3", 2222, type, key, &where),
                     KNOWNHOSTS_OK);
    assert_int_equal(knownhosts_check(k, "web3", 2222, type, KEY_B, &where),
                     KNOWNHOSTS_CHANGED);
    assert_int_equal(knownhosts_check(k, "x", 22, type, key, &where),
                     KNOWNHOSTS_OK);
    assert_int_equal(knownhosts_check(k, "web3", 22, type, key, &where),
                     KNOWNHOSTS_UNKNOWN);
    knownhosts_free(k);
}

static void
test_algorithms(void **state)
{
    struct fixture *f = *state;
    struct buf list = {0};
    struct knownhosts *k;

    write_file(f->path, file_text);
    k = load(f->path);
    assert_int_equal(knownhosts_algorithms(k, "web2", 2222, false, &list),
                     DT_OK);
    buf_append(&list, "", 1);
    assert_string_equal(list.data, "rsa-sha2-512,rsa-sha2-256,ssh-ed25519,"
                                   "ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,"
                                   "ecdsa-sha2-nistp521");
    list.len = 0;
    assert_int_equal(knownhosts_algorithms(k, "nobody", 2222, false, &list),
                     DT_OK);
    assert_memory_equal(list.data, "ssh-ed25519,ecdsa-sha2-nistp256,", 32);
    list.len = 0;
    /* known without its port */
    write_file(f->path, "h " RSA " " KEY_R "\n");
    knownhosts_free(k);
    k = load(f->path);
    assert_int_equal(knownhosts_algorithms(k, "h", 2222, false, &list), DT_OK);
    assert_memory_equal(list.data, "rsa-sha2-512,", 13);
    buf_fini(&list);
    knownhosts_free(k);
}

static void
check_added(struct fixture *f, struct knownhosts *k)
{
    struct knownhosts_where where;
    const struct knownhosts_entry entries[] = {
        {"New1", 2222, ED, KEY_A},
        {"::1", 22, RSA, KEY_R},
    };
    struct error err = ERROR_INIT;

    assert_int_equal(knownhosts_add(k, f->path, entries, 2, &err), DT_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(knownhosts_check(k, "new1", 2222, ED, KEY_A, &where),
                         KNOWNHOSTS_OK);
        assert_int_equal(knownhosts_check(k, "new1", 2222, ED, KEY_B, &where),
                         KNOWNHOSTS_CHANGED);
        assert_int_equal(knownhosts_check(k, "::1", 22, RSA, KEY_R, &where),
                         KNOWNHOSTS_OK);
        assert_string_equal(where.file, f->path);
        knownhosts_free(k);
        k = load(f->path);
    }
    knownhosts_free(k);
}

static void
test_add(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    char names[64];
    FILE *file;

    /* a new file in a new folder */
    snprintf(f->path, sizeof(f->path), "%s/.ssh/known_hosts", f->dir);
    check_added(f, load(f->path));
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    /* behind a line without its newline */
    write_file(f->path, file_text);
    check_added(f, load(f->path));
    struct knownhosts *k = load(f->path);
    check_all(k, f->path, true);
    knownhosts_free(k);
    /* a file with hashed names gets hashed ones */
    write_file(f->path, "|1|AAAAAAAAAAAAAAAAAAAAAAAAAAA=|"
                        "AAAAAAAAAAAAAAAAAAAAAAAAAAA= " ED " " KEY_A "\n");
    check_added(f, load(f->path));
    file = fopen(f->path, "r");
    assert_int_equal(fscanf(file, "%*[^\n] %63s", names), 1);
    fclose(file);
    assert_memory_equal(names, "|1|", 3);
}

/* Two clients at once: no line is lost or torn. */
static void
test_add_at_once(void **state)
{
    struct fixture *f = *state;
    const struct knownhosts_entry all = {"x", 1, ED, KEY_A};
    size_t nr = 0;
    char line[256];
    FILE *file;

    for (unsigned c = 0; c < 4; c++) {
        if (fork() == 0) {
            struct knownhosts *k = load(f->path);
            struct error err = ERROR_INIT;

            for (uint16_t i = 101; i <= 150; i++) {
                struct knownhosts_entry e = all;

                e.port = i;
                if (knownhosts_add(k, f->path, &e, 1, &err) != DT_OK) {
                    _exit(1);
                }
            }
            knownhosts_free(k);
            _exit(0);
        }
    }
    for (unsigned c = 0; c < 4; c++) {
        int status;

        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    file = fopen(f->path, "r");
    while (fgets(line, sizeof(line), file)) {
        assert_memory_equal(line, "[x]:", 4);
        assert_non_null(strstr(line, " " ED " " KEY_A "\n"));
        nr++;
    }
    fclose(file);
    assert_int_equal(nr, 200);
}

static void
test_cannot_write(void **state)
{
    struct fixture *f = *state;
    const struct knownhosts_entry e = {"x", 1, ED, KEY_A};
    struct knownhosts *k = load(f->path);
    struct error err = ERROR_INIT;

    assert_true(knownhosts_add(k, f->dir, &e, 1, &err) < 0);
    assert_non_null(strstr(err.text, f->dir));
    err = (struct error)ERROR_INIT;
    assert_true(knownhosts_add(k, "/dev/full", &e, 1, &err) < 0);
    knownhosts_free(k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hashed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_algorithms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_add, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_add_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cannot_write, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
