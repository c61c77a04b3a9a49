/* SPDX-License-Identifier: Apache-2.0
 *
 * A host in memory: runs one plugin over given text, without server, files and
 * threads, so that a plugin can be tested alone.
 *
 *     struct mock_plugin p;
 *     struct mock_result r;
 *     mock_open(&p, "../plugins/cat/.libs", "cat");
 *     mock_run(&p, &(struct mock_options){.text = "one\ntwo\n"}, &r);
 *     … look at r.status, r.out, r.notes …
 *     mock_result_fini(&r);
 *     mock_close(&p);
 *
 * Hooks are called through core/instance.c, as everywhere, so the order of the
 * life cycle is checked. What the plugin does against the rules of plugin.h
 * (half lines, use of a block after feed) is counted in r.nr_violations or
 * found by the sanitizers, since each block is memory of its own.
 */
#ifndef TESTS_MOCK_H
#define TESTS_MOCK_H

#include "buf.h"
#include "plugin.h"

/* A plugin that was opened and loaded. */
struct mock_plugin {
    struct plugins *table;
    const struct plugin *plugin;
};

/* Opens the plugin `name` in the directory `dir`; `config_json` for its load
 * hook (NULL: "{}"). DT_OK, or an error whose text is in err. */
int mock_open(struct mock_plugin *p, const char *dir, const char *name,
              const char *config_json, struct error *err);
void mock_close(struct mock_plugin *p);

struct mock_arg {
    const char *name; /* NULL ends the list */
    const char *value;
    size_t len; /* 0: strlen(value) */
};

/* An input. Without a length: up to the NUL. They are numbered from 1. */
struct mock_source {
    const char *name;
    const char *host; /* NULL: "mockhost" */
    const char *data;
    size_t len;
};

/* All zero: normal mode, one instance, everything counted, all stages, blocks
 * as the real host makes them. */
struct mock_options {
    const char *text; /* one source named "text", instead of `sources` */
    const struct mock_source *sources;
    size_t nr_sources;
    const struct mock_arg *args; /* NULL: none */

    /* Turbo: blocks of about so many bytes, always whole lines and at least
     * one. 0: normal, one line a block. */
    size_t block_bytes;
    size_t instances;   /* that share the blocks in turn; 0: 1. A query that
                           said dt_ordered gets one instance a source */
    bool no_numbers;    /* lines are not counted: first_line is 0 */
    bool last_in_lines; /* DT_BLOCK_LAST comes with the last lines, not in an
                           empty block of its own */
    size_t max_line;    /* longer lines are cut, DT_BLOCK_CUT; 0: no limit */
    size_t interval;    /* drain(DT_DRAIN_INTERVAL) after so many blocks */
    bool no_reduce;     /* the map stage only */
    bool combine;       /* the reduce stage runs on the server, too */
    size_t max_drains;  /* cancels after so many DT_AGAIN; 0: 1000 */
    size_t max_emits;   /* cancels after so many emits; 0: 1 million */
    size_t cancel_at;   /* the query is cancelled in the n-th emit, from 1 */
    size_t fail_at;     /* the n-th emit fails, from 1 … */
    int fail_status;    /* … with this; 0: DT_ERR_IO */
};

enum mock_kind { MOCK_LINES, MOCK_PARTIAL, MOCK_TEXT };

/* One emit of the map stage. */
struct mock_emit {
    enum mock_kind kind;
    struct dt_lines lines; /* of MOCK_LINES; data points into `bytes` */
    char *bytes;
    size_t len;
};

struct mock_result {
    int status; /* of the query: DT_OK or the first error */
    char error[1024];
    struct buf out;          /* what the user sees on standard output */
    struct mock_emit *emits; /* of the map stage, in their order */
    size_t nr_emits, cap_emits;
    struct strv notes;
    struct strv logs;
    bool is_ordered;      /* dt_ordered was called */
    size_t nr_blocks;     /* fed to map */
    size_t nr_lines;      /* in them */
    size_t nr_stops;      /* DT_STOP from map */
    size_t nr_drains;     /* calls of drain that went well, all stages */
    size_t nr_violations; /* of the rules of plugin.h … */
    char violation[256];  /* … the first one */
};

/* Runs a query to its end. *out is filled whatever happens; the caller frees
 * it. Returns out->status. */
int mock_run(const struct mock_plugin *p, const struct mock_options *options,
             struct mock_result *out);
/* Feeds one block, as it is, to an instance of the reduce stage and ends it:
 * for bytes that no map of this plugin would give out. */
int mock_reduce_one(const struct mock_plugin *p, const struct dt_block *block,
                    struct mock_result *out);
void mock_result_fini(struct mock_result *r);

/* True when the output is `text`. */
bool mock_out_is(const struct mock_result *r, const char *text);

#endif
