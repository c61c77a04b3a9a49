/* SPDX-License-Identifier: Apache-2.0
 *
 * genlog KIND LINES [SEED]: writes a log to standard output, always the same
 * for the same arguments. For tests and for bench.
 *
 * Kinds: log      85 bytes a line on average; 19 % ERROR; user0 to user1399,
 *                 so that "user999 " is on 0.07 % of the lines
 *        stats    MAPREDUCE:STATS lines of 129 bytes on average, 50 hosts
 *        csv      cells between commas behind a header, 68 bytes a line, 200
 *                 cities
 *        numbers  "line N" from 1, for tests that look at order
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steele and Vigna's splitmix64. */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static unsigned
below(uint64_t *state, unsigned limit)
{
    return (unsigned)((next_random(state) >> 32) * limit >> 32);
}

static const char *
level(uint64_t *state)
{
    unsigned n = below(state, 100);

    return n < 19 ? "ERROR" : n < 29 ? "WARN" : n < 40 ? "DEBUG" : "INFO";
}

/* Hour, minute, second and millisecond of a line: a thousand a second. */
struct stamp {
    unsigned hour, minute, second, ms;
};

static struct stamp
stamp_of(uint64_t i)
{
    uint64_t s = i / 1000;

    return (struct stamp){(unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60),
                          (unsigned)(s % 60), (unsigned)(i % 1000)};
}

static void
write_log(uint64_t i, uint64_t *state)
{
    struct stamp t = stamp_of(i);
    const char *word = level(state);
    unsigned thread = below(state, 64), user = below(state, 1400);
    unsigned action = below(state, 20), took = below(state, 5000);
    unsigned status = 200 + 100 * below(state, 4);

    printf("2026-10-02 %02u:%02u:%02u.%03u %s [worker-%u] user%u action%u "
           "took %u ms st=%u id=%04x\n",
           t.hour, t.minute, t.second, t.ms, word, thread, user, action, took,
           status, below(state, 65536));
}

static void
write_stats(uint64_t i, uint64_t *state)
{
    struct stamp t = stamp_of(i);
    unsigned host = below(state, 50), cpus = below(state, 64);
    unsigned load = below(state, 800), current = below(state, 500);
    unsigned lifetime = below(state, 1000000), took = below(state, 10000);

    printf("INFO|1002-%02u%02u%02u|%u|s.go:5|%u|13|7|%u.%02u|471h0m21s|"
           "MAPREDUCE:STATS|host=host%02u|currentConnections=%u|"
           "lifetime=%u|took=%u.%u\n",
           t.hour, t.minute, t.second, 1000 + host, cpus, load / 100,
           load % 100, host, current, lifetime, took / 10, took % 10);
}

static void
write_csv(uint64_t i, uint64_t *state)
{
    struct stamp t = stamp_of(i);
    unsigned city = below(state, 200), n = below(state, 100000);
    unsigned price = below(state, 1000000), id = below(state, 1u << 20);

    if (i == 0) {
        printf("time,city,n,price,text\n");
    }
    printf("2026-10-02T%02u:%02u:%02u.%03u,city%03u,%u,%u.%02u,"
           "request %05x answered\n",
           t.hour, t.minute, t.second, t.ms, city, n, price / 100, price % 100,
           id);
}

static void
write_numbers(uint64_t i, uint64_t *state)
{
    (void)state;
    printf("line %" PRIu64 "\n", i + 1);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(uint64_t i, uint64_t *state);
    } kinds[] = {{"log", write_log},
                 {"stats", write_stats},
                 {"csv", write_csv},
                 {"numbers", write_numbers}};
    uint64_t nr, state = 1;
    char *end;

    signal(SIGPIPE, SIG_IGN); /* a reader that left early is no error */
    if (argc == 3 || argc == 4) {
        nr = strtoull(argv[2], &end, 10);
        if (argc == 4) {
            state = strtoull(argv[3], NULL, 10);
        }
        for (size_t k = 0; *end == '\0' && k < sizeof(kinds) / sizeof(*kinds);
             k++) {
            if (strcmp(argv[1], kinds[k].name) == 0) {
                for (uint64_t i = 0; i < nr && !ferror(stdout); i++) {
                    kinds[k].write(i, &state);
                }
                return fflush(stdout) == 0 || errno == EPIPE ? 0 : 1;
            }
        }
    }
    fprintf(stderr, "usage: genlog log|stats|numbers LINES [SEED]\n");
    return 2;
}
