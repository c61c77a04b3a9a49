/* SPDX-License-Identifier: Apache-2.0
 *
 * What a client tells beside the data.
 */
#include "diag.h"

#include "escape.h"

#include <unistd.h>

#define TEXT_MAX 65536 /* bytes of one message; a note is cut there */

static const char *
level_word(enum log_level level)
{
    return level <= LOG_ERROR ? "ERROR" : level == LOG_WARN ? "WARN" : "INFO";
}

static int
add_lines(struct buf *out, enum log_level level, const char *host,
          const char *text)
{
    int rc = DT_OK;

    do {
        size_t len = strcspn(text, "\n");

        if (buf_puts(out, "SERVER|") != DT_OK ||
            escape_append(out, host, strlen(host), false) != DT_OK ||
            buf_printf(out, "|%s|", level_word(level)) != DT_OK ||
            escape_append(out, text, len, false) != DT_OK ||
            buf_puts(out, "\n") != DT_OK) {
            rc = DT_ERR_NOMEM;
        }
        text += len + (text[len] == '\n');
    } while (rc == DT_OK && *text);
    return rc;
}

void
diag_server(const struct diag *d, enum log_level level, const char *host,
            const char *format, ...)
{
    struct buf text = {0}, out = {0};
    va_list ap;

    if (d->fd < 0 || !log_wants(d->log, level) ||
        buf_reserve(&text, TEXT_MAX) != DT_OK) {
        return;
    }
    va_start(ap, format);
    vsnprintf(text.data, TEXT_MAX, format, ap);
    va_end(ap);
    if (add_lines(&out, level, host, text.data) == DT_OK) {
        /* Standard error that cannot be written has nobody to be told. */
        log_touch(d->log);
        (void)!write(d->fd, out.data, out.len);
    }
    buf_fini(&text);
    buf_fini(&out);
}
