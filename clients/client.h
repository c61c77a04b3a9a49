/* SPDX-License-Identifier: Apache-2.0
 *
 * What makes a command: a table of options and a function that turns them into
 * queries. dcat.c is the example; client_main does everything else.
 */
#ifndef CLIENTS_CLIENT_H
#define CLIENTS_CLIENT_H

#include "diag.h"
#include "flags.h"
#include "request.h"
#include "sink.h"

struct config;
struct plugins;
struct spans;

/* Flags of a command. */
#define CLIENT_VERBATIM                                                      \
    0x01u                    /* --plain: the file's bytes as they are; asked \
                                for plugins that are not installed here */
#define CLIENT_FOLLOWS 0x02u /* does not end by itself */
#define CLIENT_MATCHES 0x04u /* --strict: printing nothing is status 1 */
#define CLIENT_MAPS 0x10u    /* --output: also a form of results */
#define CLIENT_PROBE                                        \
    0x20u /* dtailhealth: running out of time is a failure, \
             and the log has the server's layout */
#define CLIENT_NAME_FIRST 0x08u /* the first word names the plugin */

/* The settings of a run; const once the queries are made. */
struct client {
    const struct client_command *command;
    const struct flags *flags; /* the head of the options struct */
    const void *options;
    const struct config *config;
    const struct plugins *plugins; /* loaded */
    struct diag diag;
    const char *program;     /* base name of argv[0] */
    char *host;              /* whole name of this machine */
    char *user;              /* log-in name at the servers … */
    char *login;             /* … and at this machine */
    bool has_user, has_port; /* they were given on the command line */
    const char *password;    /* logs in with it and no key; NULL: with keys */
    bool takes_any_host;     /* host keys are not looked at */
    char *home;              /* "": none */
    bool is_serverless;
    bool is_quiet;
    const char *plugin;     /* CLIENT_NAME_FIRST: the first word, NULL: none */
    const char *query_text; /* of a query in the language of dmap; NULL: none */
    char **words;           /* other positional words */
    size_t nr_words;
    struct query_spec *queries;
    size_t nr_queries;
    /* Takes the text of the reduce stage of queries[0] in place of standard
     * output; or, when file_spec has a plugin, that of a second stage, which is
     * fed the same and has the arguments of file_spec. No ops: none. */
    struct sink sink;
    struct query_spec file_spec;
    /* Results of queries[0] replace each other on a terminal. */
    bool is_redrawn;
    struct spans *spans; /* what lines were selected for; NULL: nothing */
    int64_t start_ms;    /* clock_now_ms */
    int64_t deadline_ms; /* the whole run ends well after that; 0: never */
};

struct client_command {
    const char *name; /* of the program */
    const struct option_spec *options;
    size_t options_size; /* of the struct that begins with struct flags */
    unsigned flags;
    /* Before anything is asked for (--list): an exit status, or -1 to go on.
     * May be NULL. */
    int (*early)(const struct client *c);
    /* Adds the queries with client_add_query. DT_OK, or an error, which ends
     * the program with status 2. */
    int (*make_queries)(struct client *c, struct error *err);
};

/* The whole of a command's main. Returns the exit status. */
int client_main(const struct client_command *command, int argc, char **argv);

/* Is this --output a form of lines: default ("", too), plain, ndjson? */
bool client_is_line_output(const char *form);

/* A new query for a plugin with the common settings; its files are --files or
 * the positional words, with standard input for neither (serverless). NULL: err
 * is set. The result is valid until the next call. */
struct query_spec *client_add_query(struct client *c, const char *plugin,
                                    struct error *err);

#endif
