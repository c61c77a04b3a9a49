/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the lines of a query: bare, or as REMOTE|host|100|N|source|text.
 *
 * Threads: one at a time.
 */
#ifndef CLIENTS_PRINTER_H
#define CLIENTS_PRINTER_H

#include "output.h"

struct colors;
struct spans;

/* For first_line: go on counting where the last piece of the source ended. */
#define PRINTER_CONTINUE UINT64_MAX

struct printer_args {
    bool plain;
    bool line_end; /* plain: a line without a newline gets one (grep, tail);
                      else the bytes stay as they are (cat) */
    bool escape;   /* control bytes are shown instead of sent */
    bool ndjson;   /* each line is a JSON object; wins over plain, colors */
    struct colors *colors; /* not plain: paints lines; NULL: none. printer_new
                              takes it over, also when it fails */
    struct spans *spans;   /* with colors: what is painted apart in a line; not
                              owned, lives longer. NULL: nothing */
    bool counts; /* a text whose lines all end in ":0" is nothing printed */
};

struct printer;
/* What stands in front of the lines of a source. */
struct printer_source;

/* `out` is not owned and lives longer. */
int printer_new(struct output *out, const struct printer_args *args,
                struct printer **p, struct error *err);
void printer_free(struct printer *p);
struct output *printer_output(struct printer *p);

/* `server`: number of the server, so that unfinished lines of two servers
 * never meet. NULL when out of memory. */
struct printer_source *printer_source_new(size_t server, const char *host,
                                          const char *name);
void printer_source_free(struct printer_source *s);

/* Whole lines; only the last may lack its newline (end of the file, or a piece
 * of a line that was cut). DT_OK, or as output_write. */
int printer_lines(struct printer *p, struct printer_source *s, const char *data,
                  size_t len, uint64_t first_line, const struct cancel *cancel);
/* A plugin's own text. */
int printer_text(struct printer *p, const char *data, size_t len,
                 const struct cancel *cancel);
/* The same for text in which control bytes are meant, as colours. */
int printer_sequences(struct printer *p, const char *data, size_t len,
                      const struct cancel *cancel);
/* From now on other matches are painted apart; NULL: none. */
void printer_show(struct printer *p, struct spans *spans);
int printer_flush(struct printer *p, const struct cancel *cancel);
/* True once a line or text was printed (see `counts`). */
bool printer_has_printed(const struct printer *p);

#endif
