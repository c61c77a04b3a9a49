/* SPDX-License-Identifier: Apache-2.0
 *
 * Single settings from JSON text, checked against their row, and messages that
 * name the place: "file:line:column: key: what is wrong; what is allowed".
 */
#ifndef CORE_CONFIG_VALUE_H
#define CORE_CONFIG_VALUE_H

#include "config-table.h"
#include "jsonscan.h"

#include <jansson.h>

#define CONFIG_SHOWN_MAX 512u   /* bytes of a key's path in messages */
#define CONFIG_MAX_STRING 4096u /* bytes of an element of an array */

/* One run over a text that is valid JSON. */
struct config_reader {
    const char *text;
    size_t len;
    const char *name; /* of the file */
    struct config *c;
    struct error *err;
};

/* A value in the text, and the path of its key. */
struct config_place {
    struct jsonscan_slice slice;
    char shown[CONFIG_SHOWN_MAX];
};

/* The place of a member of `parent`; a name "[0]" is an element. */
void config_place_enter(struct config_place *out,
                        const struct config_place *parent, const char *name,
                        struct jsonscan_slice slice);

/* Sets the error and returns DT_ERR_INVAL. */
int config_value_fail(struct config_reader *r, const struct config_place *at,
                      const char *format, ...) DT_PRINTF(3, 4);
/* The same with what the row allows. */
int config_value_expected(struct config_reader *r,
                          const struct config_place *at,
                          const struct config_row *row);
/* Sets the error and returns DT_ERR_NOMEM. */
int config_value_nomem(struct config_reader *r);
/* Adds a warning. DT_OK or DT_ERR_NOMEM. */
int config_value_warn(struct config_reader *r, const struct config_place *at,
                      const char *format, ...) DT_PRINTF(3, 4);

/* A new reference to what a slice holds; NULL: out of memory. */
json_t *config_value_decode(const struct config_reader *r,
                            struct jsonscan_slice s);
/* Stores the value of a row that is neither a section nor a list of elements.
 * DT_OK, or an error that is set. */
int config_value_apply(struct config_reader *r, const struct config_place *at,
                       const struct config_row *row, void *to);

#endif
