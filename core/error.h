/* SPDX-License-Identifier: Apache-2.0
 *
 * An error with its message: how every fallible function of the core tells
 * what went wrong, where, and what is allowed.
 */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#include <dtail/plugin.h>

#define ERROR_TEXT_MAX 1024

/* Caller's memory; start with ERROR_INIT. */
struct error {
    int status; /* enum dt_status, below 0 once set */
    char text[ERROR_TEXT_MAX];
};

#define ERROR_INIT \
    {              \
        0,         \
        {          \
            0      \
        }          \
    }

/* Sets status and text (cut at ERROR_TEXT_MAX) and returns status, so that a
 * function ends with `return error_set(err, DT_ERR_INVAL, "…", …)`. `err` may
 * be NULL. Preserves errno. */
int error_set(struct error *err, int status, const char *format, ...)
    DT_PRINTF(3, 4);

/* The same with ": strerror(saved_errno)" behind the text. */
int error_errno(struct error *err, int saved_errno, const char *format, ...)
    DT_PRINTF(3, 4);

/* Puts "prefix: " in front of the text of an error that is set. */
void error_prefix(struct error *err, const char *format, ...) DT_PRINTF(2, 3);

#endif
