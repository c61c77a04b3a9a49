/* SPDX-License-Identifier: Apache-2.0
 *
 * An error with its message.
 */
#include "error.h"

#include <errno.h>

static int DT_PRINTF(3, 0)
    set_text(struct error *err, int status, const char *format, va_list ap)
{
    if (err) {
        err->status = status;
        vsnprintf(err->text, sizeof(err->text), format, ap);
    }
    return status;
}

int
error_set(struct error *err, int status, const char *format, ...)
{
    int saved = errno;
    va_list ap;

    va_start(ap, format);
    set_text(err, status, format, ap);
    va_end(ap);
    errno = saved;
    return status;
}

/* What an errno means for the caller. */
static int
errno_status(int saved_errno)
{
    switch (saved_errno) {
    case ENOMEM:
        return DT_ERR_NOMEM;
    case EACCES:
    case EPERM:
        return DT_ERR_ACCES;
    case ENOENT:
    case ENOTDIR:
        return DT_ERR_NOENT;
    case EINVAL:
        return DT_ERR_INVAL;
    case EMFILE:
    case ENFILE:
        return DT_ERR_LIMIT;
    default:
        return DT_ERR_IO;
    }
}

int
error_errno(struct error *err, int saved_errno, const char *format, ...)
{
    int status = errno_status(saved_errno);
    va_list ap;
    char reason[128];

    if (!err) {
        return status;
    }
    va_start(ap, format);
    set_text(err, status, format, ap);
    va_end(ap);
    size_t len = strlen(err->text);
    snprintf(err->text + len, sizeof(err->text) - len, ": %s",
             strerror_r(saved_errno, reason, sizeof(reason)));
    errno = saved_errno;
    return status;
}

void
error_prefix(struct error *err, const char *format, ...)
{
    char old[ERROR_TEXT_MAX];
    va_list ap;

    if (!err) {
        return;
    }
    memcpy(old, err->text, sizeof(old));
    va_start(ap, format);
    vsnprintf(err->text, sizeof(err->text), format, ap);
    va_end(ap);
    size_t len = strlen(err->text);
    snprintf(err->text + len, sizeof(err->text) - len, ": %s", old);
}
