/* SPDX-License-Identifier: Apache-2.0
 *
 * Days and hours of jobs.
 */
#include "jobtime.h"

/* The longest first: each begins with the same byte, and none is the
 * beginning of another, but who adds one need not look. */
static const struct token {
    const char *text;
    int days;
} tokens[] = {
    {"$yyyesterday", -3}, {"$yyesterday", -2}, {"$yesterday", -1},
    {"$tomorrow", 1},     {"$today", 0},
};

static const struct token *
find_token(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof(tokens) / sizeof(*tokens); i++) {
        size_t n = strlen(tokens[i].text);

        if (n <= len && memcmp(text, tokens[i].text, n) == 0) {
            return &tokens[i];
        }
    }
    return NULL;
}

size_t
jobtime_token(const char *text, size_t len)
{
    const struct token *t = find_token(text, len);

    return t ? strlen(t->text) : 0;
}

/* The day that is so many days from today, at noon: no clock change is there.
 */
static void
day_at(time_t now, int days, char out[JOBTIME_DAY])
{
    struct tm tm = {0};
    time_t noon;

    localtime_r(&now, &tm);
    tm.tm_mday += days;
    tm.tm_hour = 12;
    tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    noon = mktime(&tm);
    localtime_r(&noon, &tm);
    if (strftime(out, JOBTIME_DAY, "%Y%m%d", &tm) == 0) {
        out[0] = '\0'; /* a year of more than four digits */
    }
}

void
jobtime_day(time_t now, char out[JOBTIME_DAY])
{
    day_at(now, 0, out);
}

int
jobtime_expand(const char *text, time_t now, struct buf *out)
{
    int rc = DT_OK;

    while (rc == DT_OK && *text) {
        const struct token *t = find_token(text, strlen(text));
        size_t len = 1 + strcspn(text + 1, "$");
        char day[JOBTIME_DAY];

        if (t) {
            day_at(now, t->days, day);
            rc = buf_puts(out, day);
            text += strlen(t->text);
        } else {
            rc = buf_append(out, text, len);
            text += len;
        }
    }
    return rc == DT_OK ? buf_append(out, "", 1) : rc;
}

bool
jobtime_in_range(const int range[2], time_t now)
{
    struct tm tm = {0};

    localtime_r(&now, &tm);
    if (range[0] <= range[1]) {
        return tm.tm_hour >= range[0] && tm.tm_hour < range[1];
    }
    return tm.tm_hour >= range[0] || tm.tm_hour < range[1];
}

int64_t
jobtime_to_next_day(time_t now)
{
    struct tm tm = {0};
    time_t next;

    localtime_r(&now, &tm);
    tm.tm_mday++;
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    next = mktime(&tm); /* 01:00 where a day begins then */
    return next > now ? next - now : 1;
}
