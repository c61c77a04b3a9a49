/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line flags in the Go style (-x, --x, --x=v, --x=false): one table a
 * program drives parser, usage text, completion and manual check.
 */
#ifndef CORE_OPTIONS_H
#define CORE_OPTIONS_H

#include "buf.h"
#include "error.h"

enum option_type {
    OPTION_BOOL,   /* bool */
    OPTION_INT,    /* int64_t */
    OPTION_STRING, /* const char * (points into argv or to the default) */
    OPTION_LIST    /* struct strv: repeatable, values are copied */
};

/* One flag. The table ends with a NULL name; order is free. */
struct option_spec {
    const char *name;
    enum option_type type;
    size_t offset;       /* of the member in the program's options struct */
    int64_t default_int; /* OPTION_INT, OPTION_BOOL */
    const char *default_text; /* OPTION_STRING */
    const char *help;
};

enum option_result {
    OPTIONS_OK = 0,
    OPTIONS_HELP, /* -h, -help: print the usage, exit 0 */
    OPTIONS_BAD   /* err has the first line; print it and the usage, exit 2 */
};

/* Fills *options (set to the defaults first) and returns the positional words
 * in *words (pointers into argv; the array is allocated, the caller frees it).
 * Rules and texts: spec clients 2. `given` may be NULL, else it is an array of
 * one bool a table row: set on the command line. */
enum option_result options_parse(const struct option_spec *table, int argc,
                                 char **argv, void *options, bool *given,
                                 char ***words, size_t *nr_words,
                                 struct error *err);
/* The same over what *options holds already; `given` is only added to. */
enum option_result options_parse_more(const struct option_spec *table, int argc,
                                      char **argv, void *options, bool *given,
                                      char ***words, size_t *nr_words,
                                      struct error *err);
/* Appends "Usage of NAME:" and the flags in byte order. */
int options_usage(const struct option_spec *table, const char *name,
                  struct buf *out);
/* Frees the lists of an options struct. */
void options_fini(const struct option_spec *table, void *options);

#endif
