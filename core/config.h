/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings: one table (config-table.c) drives parser, defaults, type and
 * range checks, --check-config and --dump-config. The result is a const struct
 * that is passed by pointer; there are no global settings.
 *
 * Members are named after their keys: Server.MaxLineLength is
 * server.max_line_length.
 */
#ifndef CORE_CONFIG_H
#define CORE_CONFIG_H

#include "buf.h"
#include "error.h"

#include <stdio.h>

#define CONFIG_MAX_FILE (8u << 20) /* bytes */
#define CONFIG_MAX_DEPTH 32u

enum config_tristate { CONFIG_UNSET = -1, CONFIG_NO = 0, CONFIG_YES = 1 };

struct config_plugin {
    char *name;
    bool enable;                /* default true */
    enum config_tristate turbo; /* default unset */
    int threads;                /* 0: not set */
    char *config;               /* JSON text of the object; "{}" */
    struct strv grant;          /* names of rights, core/confine.h */
};

struct config_user_rules {
    char *user;
    struct strv rules;
};

/* A scheduled or continuous job (spec server 12). */
struct config_job {
    char *name;
    char *password; /* ours; empty: the name is the password */
    bool enable;
    bool allow_only; /* ours: lets the job in, and does not run it here */
    char *files;
    char *query;
    char *outfile;
    char *discovery;
    struct strv servers;
    struct strv allow_from;
    int time_range[2];
    int max_run_seconds; /* ours; Schedule; 0: no limit */
    bool restart_on_day_change;
};

struct config_common {
    int ssh_port;
    int ssh_connect_timeout_ms;
    char *log_dir;
    char *logger;
    char *log_level;
    char *log_rotation;
    char *cache_dir;
};

struct config_server {
    char *ssh_bind_address;
    int max_connections;
    int max_startups;           /* ours: connections that are not logged in */
    int failure_penalty_ms;     /* ours: what a failed log-in costs; 0: none */
    int failure_penalty_max_ms; /* ours */
    struct strv failure_penalty_exempt; /* ours: addresses, address/bits */
    int max_concurrent_cats;
    int max_concurrent_tails;
    int max_line_length;
    int max_glob_targets;
    int max_command_frame_size;
    int max_queries;       /* at once in a session; ours */
    int login_grace_ms;    /* ours, default 10000 */
    int keepalive_seconds; /* ours, default 15 */
    int shutdown_grace_ms; /* ours, default 5000 */
    int follow_held_mib;   /* ours: rotated files not read yet; 0: no limit */
    int slot_hold_ms;      /* ours: how long a client that does not read
                              may keep a read slot; 0: for ever */
    int read_glob_retry_interval_ms;
    int read_retry_interval_ms;
    char *mapreduce_log_format;
    char *host_key_file;
    char *host_key_file_ed25519; /* ours; default: <HostKeyFile>_ed25519 */
    int host_key_bits;
    char *trusted_user_ca_keys; /* ours; "": no certificates */
    struct strv key_exchanges;
    struct strv ciphers;
    struct strv macs;
    struct strv host_key_algorithms;   /* ours */
    struct strv public_key_algorithms; /* ours */
    bool auth_key_enabled;
    int auth_key_ttl_seconds;
    int auth_key_max_per_user;
    bool turbo_boost_disable;
    char *journal_dir;   /* ours; empty: this machine's journal */
    char *plugin_dir;    /* ours; empty: default search */
    char *job_program;   /* ours: what runs a job; empty: the one built in */
    int job_check_ms;    /* ours: how often jobs are looked at */
    char *job_user;      /* ours: whose rights the workers of jobs have when the
                            server was started as root; empty: session_user */
    char *session_user;  /* ours: whom the session process becomes when the
                            server is started as root; default "nobody" */
    char *sandbox;       /* ours: "auto", "require" or "off" */
    char *status_socket; /* ours: what --status asks; "": none */
    char *metrics_socket; /* ours: where Prometheus asks; "": not there */
    int metrics_port;     /* ours: likewise, on 127.0.0.1; 0: none */
    struct config_plugin *plugins;
    size_t nr_plugins;
    struct strv permissions_default;
    struct config_user_rules *permissions_users;
    size_t nr_permissions_users;
    struct config_job *schedule;
    size_t nr_schedule;
    struct config_job *continuous;
    size_t nr_continuous;
};

struct config_client {
    bool term_colors_enable;
    char *auth_key_path;
    bool auth_key_disable;
    bool log_payload;
    char *term_colors; /* JSON text of the object; "{}" */
};

struct config {
    struct config_common common;
    struct config_server server;
    struct config_client client;
    char *path;           /* the file that was read; NULL: none */
    struct strv warnings; /* keys that only the Go program knows, … */
};

/* The settings of a program. `path`: "none" (any case): defaults only; NULL or
 * "": the first that exists of $HOME/.config/dtail/dtail.conf,
 * $HOME/.dtail.conf, SYSCONFDIR/dtail/dtail.json; else exactly that file. The
 * environment (DTAIL_TURBOBOOST_DISABLE, DTAIL_INTEGRATION_TEST_RUN_MODE) is
 * applied. Errors are DT_ERR_INVAL and name file, line, column, key and what
 * is allowed; DT_ERR_NOENT and DT_ERR_IO name the file. */
int config_load(const char *path, struct config **out, struct error *err);
/* The same from memory; `name` stands for the file in messages. No
 * environment is applied. */
int config_parse(const char *json, size_t len, const char *name,
                 struct config **out, struct error *err);
void config_free(struct config *c);

/* --check-config: loads, writes "FILE: OK" to `out`, or the error to
 * `complaints`, where warnings go too. Returns what config_load does. */
int config_check(const char *path, FILE *out, FILE *complaints);
/* Appends the effective settings as JSON that config_parse reads back. DT_OK or
 * DT_ERR_NOMEM (also when the environment gave bytes that are not UTF-8). */
int config_dump(const struct config *c, struct buf *out);

/* Appends the JSON schema of the settings (config-schema.c). DT_OK or
 * DT_ERR_NOMEM. */
int config_schema(struct buf *out);

/* NULL: the plugin is not named in the configuration, or that is NULL. */
const struct config_plugin *config_find_plugin(const struct config *c,
                                               const char *name);
/* The rules for a user: Permissions.Users[user], else Permissions.Default. */
const struct strv *config_rules(const struct config *c, const char *user);

/* DTAIL_INTEGRATION_TEST_RUN_MODE is "yes" (spec server 4). */
bool config_test_mode(void);
/* Host name as the programs show it (spec server 4), whole; a new string. */
char *config_host_name(void);

#endif
