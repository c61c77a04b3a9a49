/* SPDX-License-Identifier: Apache-2.0
 *
 * knock PORT USER TIMES: asks a server TIMES times for the ways to log in (the
 * method "none"), on one connection, and prints how often it was answered. For
 * the tests: OpenSSH's client asks once.
 */
#include <libssh/libssh.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
    ssh_session s;
    int port, times, answered = 0;

    if (argc != 4) {
        return 2;
    }
    port = atoi(argv[1]);
    times = atoi(argv[3]);
    ssh_init();
    s = ssh_new();
    if (!s || ssh_options_set(s, SSH_OPTIONS_HOST, "127.0.0.1") != SSH_OK ||
        ssh_options_set(s, SSH_OPTIONS_PORT, &port) != SSH_OK ||
        ssh_options_set(s, SSH_OPTIONS_USER, argv[2]) != SSH_OK ||
        ssh_options_set(s, SSH_OPTIONS_KNOWNHOSTS, "/dev/null") != SSH_OK ||
        ssh_connect(s) != SSH_OK) {
        fprintf(stderr, "knock: no connection\n");
        return 1;
    }
    while (answered < times && ssh_userauth_none(s, NULL) == SSH_AUTH_DENIED) {
        answered++;
    }
    printf("%d\n", answered);
    ssh_disconnect(s);
    ssh_free(s);
    ssh_finalize();
    return 0;
}
