/* SPDX-License-Identifier: Apache-2.0
 *
 * The colours of printed lines: spec clients 13.
 *
 * Threads: const once loaded.
 */
#ifndef CLIENTS_COLORS_H
#define CLIENTS_COLORS_H

#include "buf.h"
#include "error.h"

struct client;
struct colors;
struct span;

/* Whether output is painted: --color, --noColor, --plain, NO_COLOR
 * (no-color.org), Client.TermColorsEnable, and whether it goes to a terminal.
 * --color=always wins over all but --noColor and --plain. */
bool colors_wanted(const struct client *c, bool is_terminal);

/* The scheme of Client.TermColors, over the default one. Values are names
 * ("White", "FgWhite", any case) or sequences that begin with ESC; what is
 * neither is told to the log and the default stays. `json` is the object's
 * text. DT_OK or DT_ERR_NOMEM. */
struct log;
int colors_new(const char *json, struct log *log, struct colors **out,
               struct error *err);
void colors_free(struct colors *c);

/* Appends a line "REMOTE|host|100|N|source|text", without newline, painted. A
 * line of less fields has the terminal's own colours. `spans`: the `nr` places
 * of the line (ascending, apart from each other) at which a pattern matches,
 * painted apart where they lie in the text. DT_OK or DT_ERR_NOMEM. */
int colors_paint_remote(const struct colors *c, const char *line, size_t len,
                        const struct span *spans, size_t nr, struct buf *out);

#endif
