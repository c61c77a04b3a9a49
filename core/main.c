/* SPDX-License-Identifier: Apache-2.0
 *
 * dserver: parse, serve, free.
 */
#include "server.h"

#include <stdlib.h>

#define EXIT_USAGE 2 /* also of bad settings */

int
main(int argc, char **argv)
{
    struct server server = {0};
    struct error err = ERROR_INIT;
    int status = EXIT_SUCCESS;
    int st = server_parse(&server, argc, argv);

    if (st < 0) {
        status = EXIT_USAGE;
    } else if (st == DT_OK && !server_answer(&server, &status) &&
               server_serve(&server, &err) != DT_OK) {
        fprintf(stderr, "dserver: %s\n", err.text);
        status = EXIT_USAGE;
    }
    server_fini(&server);
    return status;
}
