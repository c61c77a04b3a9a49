/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading and checking plugins, and the only place that calls their hooks.
 *
 * The listener opens the files and reads the descriptors (plugins_open); a
 * worker or client calls plugins_load once, which runs their `load` hooks.
 * The table is const afterwards and shared by threads.
 */
#ifndef CORE_PLUGIN_H
#define CORE_PLUGIN_H

#include "buf.h"
#include "error.h"

struct config;
struct log;
struct plugin;
struct plugins;
struct instance;

/* Opens every dt-*.so of `dirs` (directories separated by ':', taken in this
 * order, their files by name) that the configuration enables. A file that is
 * refused is kept in the table with its reason. Errors: a directory cannot be
 * read; a plugin named in the configuration is not loadable. */
int plugins_open(const char *dirs, const struct config *config,
                 struct plugins **out, struct error *err);
/* On a server, before plugins_load: refuses the plugins that ask for rights
 * (DT_NEEDS_…) which Server.Plugins.NAME.Grant does not give; *granted gets
 * those of the others, all together, as one process runs them all. An error: a
 * plugin that the configuration names is refused so. */
int plugins_grant(struct plugins *ps, const struct config *config,
                  uint32_t *granted, struct error *err);
/* Runs the load hooks, once a process; one that fails is marked refused.
 * `log` (or NULL) must live as long as the table. */
void plugins_load(struct plugins *ps, struct log *log);
/* Runs the unload hooks and frees the table; accepts NULL. No instance may be
 * left. The objects stay mapped when load hooks have run (a plugin's threads
 * may be alive); else they are closed, so that SIGHUP finds replaced files. */
void plugins_free(struct plugins *ps);

/* The directories to use: the configuration's, else $DTAIL_PLUGIN_DIR, else
 * the build folder's when the program runs uninstalled, else the installed
 * one. A new string; NULL when out of memory. */
char *plugins_default_dir(const struct config *config);

size_t plugins_count(const struct plugins *ps);
const struct plugin *plugins_at(const struct plugins *ps, size_t index);
/* By command name, only those that are offered. NULL: none. */
const struct plugin *plugins_find(const struct plugins *ps, const char *name);
/* "cat, grep, tail": the names that are offered. */
int plugins_names(const struct plugins *ps, struct buf *out);

const struct dt_plugin *plugin_descriptor(const struct plugin *p);
const char *plugin_name(const struct plugin *p); /* from descriptor or file */
const char *plugin_file(const struct plugin *p);
/* NULL when offered, else why it is refused. */
const char *plugin_refused(const struct plugin *p);
/* Outcome of the configuration; *reason is a static text. */
bool plugin_turbo(const struct plugin *p, const char **reason);
/* How many instances at most in turbo mode (Threads, default: processors, at
 * most 4). */
int plugin_threads(const struct plugin *p);

/* ---- instances: the only place that calls hooks.
 *
 * Each wrapper checks the order of the life cycle and that one thread is
 * inside (else DT_ERR_INTERNAL, and the hook is not called), answers
 * DT_ERR_CANCELLED without a call once q->host->cancelled says so, maps
 * answers that the hook may not give to DT_ERR_INTERNAL, and notes for the
 * crash handler which hook of which plugin runs. Every failure but
 * DT_ERR_CANCELLED is told to q->host->error, where a text that the plugin
 * itself gave came first. After an error only instance_close is right.
 * ---- */

/* Begins an instance. `p` and `q` outlive it. DT_ERR_NOENT: the plugin is
 * refused or has no such stage. *out is NULL after an error. */
int instance_start(const struct plugin *p, enum dt_role role,
                   struct dt_query *q, struct instance **out);
/* DT_OK, DT_STOP or an error. */
int instance_feed(struct instance *i, const struct dt_block *block);
/* The same line by line, one feed each, for a run of whole lines with slack
 * (BYTES_SLACK) behind it: the checks of the wrapper are made once. Whether the
 * query was cancelled is looked at between runs, and by every emit. */
int instance_feed_lines(struct instance *i, const struct dt_block *run);
/* DT_OK or an error. */
int instance_finish(struct instance *i);
/* DT_OK, DT_AGAIN or an error. DT_DRAIN_INTERVAL before finish, DT_DRAIN_FINAL
 * behind it and not again after DT_OK. */
int instance_drain(struct instance *i, enum dt_drain why);
/* Ends it; accepts NULL. */
void instance_close(struct instance *i);

/* ---- crashes ---- */
struct plugin_crash {
    char plugin[64];
    char hook[16];
    int signal; /* 0: none */
};
/* Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT that write
 * which hook ran into *shared (memory that outlives the process, or NULL) and,
 * if fd >= 0, a line of text to fd. Then the action that was set before
 * follows: by default the process dies of the signal. With an exit_status
 * above 0 a crash inside of a plugin ends the process with that status
 * instead, as clients want it. One call a process.
 */
void plugin_catch_crashes(struct plugin_crash *shared, int fd, int exit_status);

#endif
