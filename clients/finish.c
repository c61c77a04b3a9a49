/* SPDX-License-Identifier: Apache-2.0
 *
 * From how a run ended to its exit status.
 */
#include "finish.h"

#include "clock.h"
#include "colors.h"
#include "config.h"
#include "meter.h"
#include "plugin.h"
#include "profile.h"
#include "statusline.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

static enum run_status
judge(const struct finish *f)
{
    const struct client *c = f->client;
    bool strict = c->flags->strict;
    int error = output_error(f->output);

    if (error == EPIPE || f->end == LOOP_READER_GONE) {
        return RUN_OK; /* the reader had enough, as with head */
    }
    if (error) {
        log_error(c->diag.log, "standard output: %s", strerrordesc_np(error));
        return RUN_FAILED;
    }
    switch (f->end) {
    case LOOP_INTERRUPTED:
        return RUN_INTERRUPTED;
    case LOOP_TERMINATED:
        return c->command->flags & CLIENT_FOLLOWS ? RUN_OK : RUN_INTERRUPTED;
    case LOOP_DEADLINE:
        return c->command->flags & CLIENT_PROBE ? RUN_FAILED : RUN_OK;
    case LOOP_QUIT:
        return RUN_OK;
    default:
        break;
    }
    if (f->stage_status != DT_OK || f->nr_completed == 0) {
        return RUN_FAILED;
    }
    if (f->nr_failed) {
        return RUN_PARTLY;
    }
    return strict && (c->command->flags & CLIENT_MATCHES) &&
                   !printer_has_printed(f->printer)
               ? RUN_FAILED
               : RUN_OK;
}

/* --stats: what the run did, in one line on standard error. */
static void
print_stats(const struct finish *f)
{
    int64_t ms = clock_now_ms() - f->client->start_ms;
    uint64_t bytes = output_bytes(f->output);
    struct buf line = {0};
    int rc = buf_printf(
        &line,
        "STATS|%s|servers=%zu|completed=%zu|failed=%zu|elapsed=%.3fs|"
        "bytes=%" PRIu64 "|MB/s=%.1f",
        f->client->command->name, f->nr_completed + f->nr_failed,
        f->nr_completed, f->nr_failed, (double)ms / 1e3, bytes,
        ms > 0 ? (double)bytes / 1e3 / (double)ms : 0);

    if (rc == DT_OK && f->lines_sent) {
        rc = buf_printf(&line, "|lines=%" PRIu64, f->lines_sent);
    }
    if (rc == DT_OK && buf_puts(&line, "\n") == DT_OK) {
        (void)!write(STDERR_FILENO, line.data, line.len);
    }
    buf_fini(&line);
}

enum run_status
finish_status(const struct finish *f)
{
    if (f->client->flags->stats) {
        print_stats(f);
    }
    profile_report(f->client, f->client->start_ms, output_bytes(f->output),
                   f->lines_sent);
    return judge(f);
}

/* Bytes of a plugin that promises the file's own stay as they are. */
static bool
is_verbatim(const struct client *c)
{
    for (size_t i = 0; i < c->nr_queries; i++) {
        const struct plugin *p =
            c->plugins ? plugins_find(c->plugins, c->queries[i].plugin) : NULL;

        if (p ? !(plugin_descriptor(p)->flags & DT_VERBATIM)
              : !(c->command->flags & CLIENT_VERBATIM)) {
            return false;
        }
    }
    return true;
}

/* Counts of lines instead of lines? */
static bool
is_counting(const struct client *c)
{
    for (size_t i = 0; i < c->nr_queries; i++) {
        for (size_t a = 0; a < c->queries[i].nr_args; a++) {
            if (strcmp(c->queries[i].args[a].name, "count") == 0) {
                return (c->command->flags & CLIENT_MATCHES) != 0;
            }
        }
    }
    return false;
}

int
finish_printer(const struct client *c, struct output *out, struct printer **p,
               struct error *err)
{
    struct printer_args args = {
        .plain = c->flags->plain,
        .line_end = !is_verbatim(c),
        .escape =
            c->flags->escape || (!c->flags->raw && output_is_terminal(out)),
        .ndjson = strcmp(c->flags->output, "ndjson") == 0,
        .counts = is_counting(c),
        .spans = c->spans,
    };
    int rc = DT_OK;

    if (colors_wanted(c, output_is_terminal(out))) {
        rc = colors_new(c->config->client.term_colors, c->diag.log,
                        &args.colors, err);
    }
    return rc == DT_OK ? printer_new(out, &args, p, err) : rc;
}

static void
clear_status(void *ctx)
{
    statusline_clear(ctx);
}

void
finish_meter(const struct client *c, struct output *out, size_t nr_servers,
             struct meter **meter, struct statusline **status)
{
    /* who follows has no end to look forward to */
    if (c->flags->quiet || c->flags->interactive_query ||
        c->command->flags & CLIENT_FOLLOWS) {
        return;
    }
    *status = statusline_new(STDERR_FILENO);
    if (*status) {
        *meter = meter_new(nr_servers ? nr_servers : 1, c->nr_queries,
                           nr_servers == 0, c->start_ms);
        log_on_touch(c->diag.log, clear_status, *status);
        output_set_status(out, *status);
    }
}

void
finish_meter_end(const struct client *c, struct meter *meter,
                 struct statusline *status)
{
    log_on_touch(c->diag.log, NULL, NULL);
    statusline_free(status);
    meter_free(meter);
}

int64_t
finish_interval(const struct client *c)
{
    int64_t shortest = 0;

    for (size_t i = 0; i < c->nr_queries; i++) {
        int64_t ms = c->queries[i].interval_ms;

        if (ms > 0 && (shortest == 0 || ms < shortest)) {
            shortest = ms;
        }
    }
    return shortest;
}
