/* SPDX-License-Identifier: Apache-2.0
 *
 * measure pair [-n RUNS] [-w WARMUPS] [-p] NAME 'COMMAND A' 'COMMAND B'
 *     runs A B A B …, output to /dev/null or (-p) into a pipe that is read,
 *     and prints a line of comma-separated figures: NAME, runs, medians of
 *     wall seconds of A and B, median of the ratios pair by pair, medians of
 *     CPU seconds, peak resident KiB of the largest process.
 * measure pss PID...  prints the sum of the processes' proportional KiB.
 * measure free-port   prints a TCP port of 127.0.0.1 that nobody uses.
 *
 * Commands are run by sh -c; write exec in front of a simple one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RUNS 100
#define READ_BYTES (1u << 20)

struct figures {
    double wall[MAX_RUNS], cpu[MAX_RUNS];
    long peak_kib;
};

static double
now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double
seconds(struct timeval tv)
{
    return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static void
drain(int fd)
{
    static char buf[READ_BYTES];

    while (read(fd, buf, sizeof(buf)) > 0 || errno == EINTR) {
        errno = 0;
    }
}

/* Runs one command. False: it could not be run, or failed. */
static bool
run_once(const char *command, bool into_pipe, double *wall, double *cpu,
         long *peak)
{
    int fds[2] = {-1, -1}, status;
    struct rusage use;
    double start = now();
    pid_t pid;

    if (into_pipe && pipe(fds) < 0) {
        return false;
    }
    pid = fork();
    if (pid == 0) {
        int out = into_pipe ? fds[1] : open("/dev/null", O_WRONLY);

        dup2(out, STDOUT_FILENO);
        close(out);
        if (into_pipe) {
            close(fds[0]);
        }
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (into_pipe) {
        close(fds[1]);
        drain(fds[0]);
        close(fds[0]);
    }
    if (pid < 0 || wait4(pid, &status, 0, &use) != pid) {
        return false;
    }
    *wall = now() - start;
    *cpu = seconds(use.ru_utime) + seconds(use.ru_stime);
    *peak = use.ru_maxrss > *peak ? use.ru_maxrss : *peak;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "measure: status %d: %s\n", status, command);
        return false;
    }
    return true;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double
median(const double *v, int nr)
{
    double sorted[MAX_RUNS];

    memcpy(sorted, v, (size_t)nr * sizeof(*v));
    qsort(sorted, (size_t)nr, sizeof(*sorted), compare);
    return nr % 2 ? sorted[nr / 2] : (sorted[nr / 2 - 1] + sorted[nr / 2]) / 2;
}

static int
pair(int argc, char **argv)
{
    static struct figures a, b;
    double ratio[MAX_RUNS], ignored;
    bool into_pipe = false;
    int opt, runs = 5, warmups = 1;

    while ((opt = getopt(argc, argv, "n:w:p")) != -1) {
        if (opt == 'n') {
            runs = atoi(optarg);
        } else if (opt == 'w') {
            warmups = atoi(optarg);
        } else if (opt == 'p') {
            into_pipe = true;
        } else {
            return 2;
        }
    }
    if (argc - optind != 3 || runs < 1 || runs > MAX_RUNS || warmups < 0) {
        return 2;
    }
    argv += optind;
    for (int i = -warmups; i < runs; i++) {
        bool counts = i >= 0;

        if (!run_once(argv[1], into_pipe, counts ? &a.wall[i] : &ignored,
                      counts ? &a.cpu[i] : &ignored, &a.peak_kib) ||
            !run_once(argv[2], into_pipe, counts ? &b.wall[i] : &ignored,
                      counts ? &b.cpu[i] : &ignored, &b.peak_kib)) {
            return 1;
        }
        if (counts) {
            ratio[i] = a.wall[i] / b.wall[i];
        }
    }
    printf("%s,%d,%.4f,%.4f,%.3f,%.3f,%.3f,%ld,%ld\n", argv[0], runs,
           median(a.wall, runs), median(b.wall, runs), median(ratio, runs),
           median(a.cpu, runs), median(b.cpu, runs), a.peak_kib, b.peak_kib);
    return 0;
}

static int
pss(char **pids)
{
    long sum = 0, kib;
    char path[64], line[256];

    for (; *pids; pids++) {
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%.20s/smaps_rollup", *pids);
        f = fopen(path, "r");
        while (f && fgets(line, sizeof(line), f)) {
            if (sscanf(line, "Pss: %ld kB", &kib) == 1) {
                sum += kib;
            }
        }
        if (f) {
            fclose(f);
        }
    }
    printf("%ld\n", sum);
    return 0;
}

static int
free_port(void)
{
    struct sockaddr_in sin = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(sin);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&sin, len) < 0 ||
        getsockname(fd, (struct sockaddr *)&sin, &len) < 0) {
        perror("measure: free-port");
        return 1;
    }
    printf("%d\n", ntohs(sin.sin_port));
    return 0;
}

int
main(int argc, char **argv)
{
    int status = 2;

    if (argc >= 2 && strcmp(argv[1], "pair") == 0) {
        status = pair(argc - 1, argv + 1);
    } else if (argc >= 3 && strcmp(argv[1], "pss") == 0) {
        status = pss(argv + 2);
    } else if (argc == 2 && strcmp(argv[1], "free-port") == 0) {
        status = free_port();
    }
    if (status == 2) {
        fprintf(stderr, "usage: measure pair [-n RUNS] [-w WARMUPS] [-p] NAME "
                        "A B | pss PID... | free-port\n");
    }
    return status;
}
