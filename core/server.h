/* SPDX-License-Identifier: Apache-2.0
 *
 * The program dserver: its command line, settings and what it does without
 * serving. main.c calls these in turn.
 */
#ifndef CORE_SERVER_H
#define CORE_SERVER_H

#include "listener.h"

#include <stdio.h>

/* The command line. Strings point into argv. */
struct server_options {
    const char *cfg;
    const char *bind_address;
    const char *logger;
    const char *log_dir;
    const char *log_level;
    const char *plugin_dir;
    int64_t port;
    int64_t shutdown_after;
    int64_t ready_fd;
    bool color;
    bool version;
    bool check_config;
    bool dump_config;
    bool dump_schema;
    bool list_plugins;
    bool status;
    bool json;
};

struct server {
    struct server_options options;
    bool *given; /* one a flag: stood on the command line */
    struct listener_settings settings;
    struct log *log;
};

/* Reads the command line. DT_OK: go on; DT_STOP: done (help); DT_ERR_INVAL:
 * the complaint has been written to stderr. *s is all zero before; free with
 * server_fini. */
int server_parse(struct server *s, int argc, char **argv);
/* The options that answer and leave (--version, --check-config, --dump-config,
 * --dump-schema, --list-plugins, --status). True: done, with the exit status in
 * *status.
 */
bool server_answer(struct server *s, int *status);
/* Loads settings and plugins, opens the log and serves until told to stop. */
int server_serve(struct server *s, struct error *err);
void server_fini(struct server *s);

#endif
