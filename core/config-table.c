/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of settings. Ranges are wide: they keep out what cannot work
 * or overflows, not what is merely unusual. docs/dtail.json.5 has a text for
 * each row, and test-config-table compares the two.
 */
#include "config-table.h"

#include "algorithms.h"
#include "auth-address.h"
#include "confine.h"
#include "endpoint.h"
#include "penalty.h"
#include "permission.h"

#include <stddef.h>

#define DAY_MS 86400000

/* Bytes of a string, unless a row says otherwise. */
#define TEXT .min = 0, .max = 4096
#define NOT_EMPTY .min = 1, .max = 4096
#define LIST .min = 0, .max = 1000
#define RANGE(from, to, def) .min = (from), .max = (to), .default_int = (def)
#define NONE_IS_DEFAULT .flags = CONFIG_DEFAULT_IF_NONE

#define SECTION(key, text)                                    \
    {                                                         \
        .path = (key), .type = CONFIG_SECTION, .help = (text) \
    }
#define ROW(key, kind, member, text, ...)                                      \
    {                                                                          \
        .path = (key), .type = (kind),                                         \
        .offset = offsetof(struct config, member), .help = (text), __VA_ARGS__ \
    }
#define PLUGIN(key, kind, member, text, ...)                              \
    {                                                                     \
        .path = "Server.Plugins.*." key, .type = (kind),                  \
        .offset = offsetof(struct config_plugin, member), .help = (text), \
        __VA_ARGS__                                                       \
    }
#define JOB(list, key, kind, member, text, ...)                        \
    {                                                                  \
        .path = "Server." list "[]." key, .type = (kind),              \
        .offset = offsetof(struct config_job, member), .help = (text), \
        __VA_ARGS__                                                    \
    }
#define FOREIGN(key)                           \
    {                                          \
        .path = (key), .type = CONFIG_FOREIGN, \
        .help = "only the Go program knows it" \
    }

/* What both kinds of jobs have. */
#define JOB_ROWS(list)                                                        \
    JOB(list, "Name", CONFIG_STRING, name, "Name of the job.", .min = 1,      \
        .max = 256),                                                          \
        JOB(list, "Password", CONFIG_STRING, password,                        \
            "Password of the job's client; empty: the name of the job.",      \
            .min = 0, .max = 256),                                            \
        JOB(list, "Enable", CONFIG_BOOL, enable,                              \
            "Run the job on this server, and let its clients in.",            \
            .default_int = 0),                                                \
        JOB(list, "AllowOnly", CONFIG_BOOL, allow_only,                       \
            "Let the job's clients in, but do not run it on this server.",    \
            .default_int = 0),                                                \
        JOB(list, "Files", CONFIG_STRING, files,                              \
            "Files and globs, separated by commas; date tokens are filled "   \
            "in.",                                                            \
            .min = 0, .max = 65536),                                          \
        JOB(list, "Query", CONFIG_STRING, query,                              \
            "The query, without an outfile clause.", .min = 0, .max = 65536), \
        JOB(list, "Outfile", CONFIG_STRING, outfile,                          \
            "Where the result goes; date tokens are filled in.", TEXT),       \
        JOB(list, "Discovery", CONFIG_STRING, discovery,                      \
            "How servers are found, as the clients' --discovery.", TEXT),     \
        JOB(list, "Servers", CONFIG_STRINGS, servers,                         \
            "Servers to ask; empty: this one.", .min = 0, .max = 10000),      \
        JOB(list, "AllowFrom", CONFIG_STRINGS, allow_from,                    \
            "Hosts and addresses that may log in with the job's name.", LIST)

/* A rule that cannot work is found when the server starts, not when somebody
 * asks for a file. */
static int
check_rule(const char *text, struct error *err)
{
    char *element = (char *)(uintptr_t)text;
    const struct strv rule = {.v = &element, .nr = 1};
    struct permission *p = NULL;
    int rc = permission_new("", &rule, false, &p, err);

    permission_free(p);
    return rc;
}

static int
check_net(const char *text, struct error *err)
{
    if (strcmp(text, PENALTY_LOOPBACK) != 0 &&
        auth_address_in_net(text, "0.0.0.0") < 0) {
        return error_set(err, DT_ERR_INVAL,
                         "\"%.100s\" is neither an address nor address/bits "
                         "nor " PENALTY_LOOPBACK,
                         text);
    }
    return DT_OK;
}

/* Of Server.Plugins.NAME.Grant. */
static int
check_right(const char *text, struct error *err)
{
    return confine_right(text)
               ? DT_OK
               : error_set(err, DT_ERR_INVAL,
                           "\"%.40s\" is no right; allowed are \"write\", "
                           "\"exec\" and \"network\"",
                           text);
}

static const char *const sandbox_words[] = {"auto", "require", "off", NULL};
static const char *const logger_words[] = {"none", "stdout", "stderr",
                                           "file", "fout",   NULL};
static const char *const level_words[] = {
    "none",    "fatal", "error", "warn",  "info", "default",
    "verbose", "debug", "devel", "trace", "all",  NULL};
static const char *const rotation_words[] = {"daily", "signal", NULL};

const struct config_row config_rows[] = {
    {.path = "$schema", .type = CONFIG_FOREIGN, .help = "only editors read it"},
    SECTION("Common", "Settings of servers and clients."),
    ROW("Common.SSHPort", CONFIG_INT, common.ssh_port,
        "Port to listen on; at clients the default port.",
        RANGE(1, 65535, 2222)),
    ROW("Common.SSHConnectTimeoutMs", CONFIG_INT, common.ssh_connect_timeout_ms,
        "Longest time for a TCP connection, in milliseconds.",
        RANGE(1, 3600000, 2000), NONE_IS_DEFAULT),
    FOREIGN("Common.ExperimentalFeaturesEnable"),
    ROW("Common.LogDir", CONFIG_PATH, common.log_dir,
        "Folder of the server's log files.", .default_text = "log", NOT_EMPTY),
    ROW("Common.Logger", CONFIG_WORD, common.logger,
        "Where the server's log lines go.", .default_text = "stdout",
        .words = logger_words),
    ROW("Common.LogLevel", CONFIG_WORD, common.log_level,
        "Lines of this level and of those in front of it are written.",
        .default_text = "info", .words = level_words, .empty_word = "default"),
    ROW("Common.LogRotation", CONFIG_WORD, common.log_rotation,
        "A log file a day, or one file that SIGHUP opens again.",
        .default_text = "daily", .words = rotation_words,
        .flags = CONFIG_OTHER_IS_LAST),
    ROW("Common.CacheDir", CONFIG_PATH, common.cache_dir,
        "Folder of the USER.authorized_keys files.", .default_text = "cache",
        NOT_EMPTY),

    SECTION("Server", "Settings of servers, and of clients without one."),
    ROW("Server.SSHBindAddress", CONFIG_STRING, server.ssh_bind_address,
        "Address to listen on.", .default_text = "0.0.0.0", NOT_EMPTY),
    ROW("Server.MaxConnections", CONFIG_INT, server.max_connections,
        "Users that are logged in at the same time.", RANGE(1, 100000, 10)),
    ROW("Server.MaxStartups", CONFIG_INT, server.max_startups,
        "Connections at the same time that have not logged in yet.",
        RANGE(1, 100000, 500)),
    ROW("Server.FailurePenaltyMs", CONFIG_INT, server.failure_penalty_ms,
        "How long a failed log-in counts against its source, in "
        "milliseconds; 0: not at all.",
        RANGE(0, 3600000, 5000)),
    ROW("Server.FailurePenaltyMaxMs", CONFIG_INT, server.failure_penalty_max_ms,
        "How long a source is refused at most, in milliseconds.",
        RANGE(1, DAY_MS, 600000)),
    ROW("Server.FailurePenaltyExempt", CONFIG_STRINGS,
        server.failure_penalty_exempt,
        "Addresses and address/bits whose failed log-ins do not count.",
        .default_text = PENALTY_LOOPBACK, .min = 0, .max = 1000,
        .check = check_net),
    ROW("Server.MaxConcurrentCats", CONFIG_INT, server.max_concurrent_cats,
        "Whole files read at the same time.", RANGE(1, 10000, 2)),
    ROW("Server.MaxConcurrentTails", CONFIG_INT, server.max_concurrent_tails,
        "Files followed at the same time.", RANGE(1, 100000, 50)),
    ROW("Server.MaxLineLength", CONFIG_INT, server.max_line_length,
        "Bytes after which a line is cut into several.",
        RANGE(1, 16777216, 1048576), NONE_IS_DEFAULT),
    ROW("Server.MaxGlobTargets", CONFIG_INT, server.max_glob_targets,
        "Files that one command may read.", RANGE(1, 1000000, 1000),
        NONE_IS_DEFAULT),
    ROW("Server.MaxCommandFrameSize", CONFIG_INT, server.max_command_frame_size,
        "Bytes of one request of a client.", RANGE(1024, 16777216, 1048576),
        NONE_IS_DEFAULT),
    ROW("Server.MaxQueries", CONFIG_INT, server.max_queries,
        "Queries of one session at the same time.", RANGE(1, 10000, 32)),
    ROW("Server.LoginGraceMs", CONFIG_INT, server.login_grace_ms,
        "Longest time for a log-in, in milliseconds.",
        RANGE(100, 3600000, 10000)),
    ROW("Server.KeepaliveSeconds", CONFIG_INT, server.keepalive_seconds,
        "Silence after which a client is asked whether it lives; 0: never.",
        RANGE(0, 86400, 15)),
    ROW("Server.ShutdownGraceMs", CONFIG_INT, server.shutdown_grace_ms,
        "How long running reads may go on at SIGTERM, in milliseconds.",
        RANGE(0, 3600000, 5000)),
    ROW("Server.SlotHoldMs", CONFIG_INT, server.slot_hold_ms,
        "How long a client that does not read may keep a read slot, in "
        "milliseconds; 0: for ever.",
        RANGE(0, DAY_MS, 600000)),
    ROW("Server.FollowHeldMiB", CONFIG_INT, server.follow_held_mib,
        "How many MiB of rotated files that were not read yet a followed "
        "query may hold open; 0: no limit.",
        RANGE(0, 1048576, 1024)),
    ROW("Server.ReadGlobRetryIntervalMs", CONFIG_INT,
        server.read_glob_retry_interval_ms,
        "How often followed globs are looked at again, in milliseconds.",
        RANGE(1, DAY_MS, 5000), NONE_IS_DEFAULT),
    ROW("Server.ReadRetryIntervalMs", CONFIG_INT, server.read_retry_interval_ms,
        "How often a followed file that went away is looked for, in "
        "milliseconds.",
        RANGE(1, DAY_MS, 2000), NONE_IS_DEFAULT),
    ROW("Server.MapreduceLogFormat", CONFIG_STRING, server.mapreduce_log_format,
        "Log format of queries that name a table and no logformat.",
        .default_text = "default", .min = 0, .max = 64, NONE_IS_DEFAULT),
    ROW("Server.HostKeyFile", CONFIG_PATH, server.host_key_file,
        "File of the RSA host key; made when missing.",
        .default_text =
            "./cache/ssh_host_key", /* room for _ed25519 behind it */
        .min = 0, .max = 4000, NONE_IS_DEFAULT),
    ROW("Server.HostKeyFileEd25519", CONFIG_PATH, server.host_key_file_ed25519,
        "File of the ed25519 host key; empty: HostKeyFile with _ed25519 "
        "behind it.",
        TEXT),
    ROW("Server.HostKeyBits", CONFIG_INT, server.host_key_bits,
        "Size of an RSA host key that is made.", RANGE(2048, 16384, 4096),
        NONE_IS_DEFAULT),
    ROW("Server.KeyExchanges", CONFIG_STRINGS, server.key_exchanges,
        "Allowed SSH key exchange methods; empty: the library's.", LIST,
        .check = algorithms_check_kex),
    ROW("Server.Ciphers", CONFIG_STRINGS, server.ciphers,
        "Allowed SSH ciphers; empty: the library's.", LIST,
        .check = algorithms_check_cipher),
    ROW("Server.MACs", CONFIG_STRINGS, server.macs,
        "Allowed SSH message authentication codes; empty: the library's.", LIST,
        .check = algorithms_check_mac),
    ROW("Server.HostKeyAlgorithms", CONFIG_STRINGS, server.host_key_algorithms,
        "Signatures of the host keys; empty: those of all host keys.", LIST,
        .check = algorithms_check_host_key),
    ROW("Server.PublicKeyAlgorithms", CONFIG_STRINGS,
        server.public_key_algorithms,
        "Signatures that users may log in with; empty: all but SHA-1.", LIST,
        .check = algorithms_check_public_key),
    ROW("Server.TrustedUserCAKeys", CONFIG_PATH, server.trusted_user_ca_keys,
        "File of the public keys of authorities whose certificates let users "
        "in; empty: none.",
        TEXT),
    ROW("Server.AuthKeyEnabled", CONFIG_BOOL, server.auth_key_enabled,
        "Clients may register a key for their next log-ins.", .default_int = 1),
    ROW("Server.AuthKeyTTLSeconds", CONFIG_INT, server.auth_key_ttl_seconds,
        "How long a registered key is good for, in seconds.",
        RANGE(1, 315360000, 86400), NONE_IS_DEFAULT),
    ROW("Server.AuthKeyMaxPerUser", CONFIG_INT, server.auth_key_max_per_user,
        "Registered keys of one user.", RANGE(1, 1000, 5), NONE_IS_DEFAULT),
    ROW("Server.TurboBoostDisable", CONFIG_BOOL, server.turbo_boost_disable,
        "Plugins get one line a time, in one thread.", .default_int = 0),
    ROW("Server.PluginDir", CONFIG_PATH, server.plugin_dir,
        "Folder of the plugins; empty: the one that was built in.", TEXT),
    ROW("Server.JournalDir", CONFIG_PATH, server.journal_dir,
        "Folder of journal files for journal:UNIT; empty: the journal of this "
        "machine.",
        TEXT),
    ROW("Server.SessionUser", CONFIG_STRING, server.session_user,
        "User of the session processes of a server started as root.",
        .default_text = "nobody", .min = 1, .max = 256),
    ROW("Server.JobUser", CONFIG_STRING, server.job_user,
        "User whose rights jobs have on a server started as root; empty: "
        "SessionUser.",
        .min = 0, .max = 256),
    ROW("Server.Sandbox", CONFIG_WORD, server.sandbox,
        "Landlock and seccomp for sessions and workers: where the kernel has "
        "them, always or never.",
        .default_text = "auto", .words = sandbox_words),
    ROW("Server.JobProgram", CONFIG_PATH, server.job_program,
        "Program that runs a job; empty: the one that was built in.", TEXT),
    ROW("Server.JobCheckMs", CONFIG_INT, server.job_check_ms,
        "How often is looked whether a job is due, in milliseconds.",
        RANGE(10, 3600000, 60000), NONE_IS_DEFAULT),
    ROW("Server.StatusSocket", CONFIG_PATH, server.status_socket,
        "Unix socket that dserver --status asks; empty: none.",
        .default_text = "./cache/dserver.sock", .min = 0,
        .max = ENDPOINT_MAX_PATH),
    ROW("Server.MetricsSocket", CONFIG_PATH, server.metrics_socket,
        "Unix socket where Prometheus may ask; empty: none.", .min = 0,
        .max = ENDPOINT_MAX_PATH),
    ROW("Server.MetricsPort", CONFIG_INT, server.metrics_port,
        "Port of 127.0.0.1 where Prometheus may ask; 0: none.",
        RANGE(0, 65535, 0)),
    ROW("Server.Plugins", CONFIG_PLUGINS, server.plugins,
        "Settings of plugins by name.",
        .nr_offset = offsetof(struct config, server.nr_plugins), .max = 1000),
    PLUGIN("Enable", CONFIG_BOOL, enable, "Offer the plugin.",
           .default_int = 1),
    PLUGIN("Turbo", CONFIG_TRISTATE, turbo,
           "Blocks of lines in several threads; not set: as "
           "TurboBoostDisable says.",
           .default_int = CONFIG_UNSET),
    PLUGIN("Threads", CONFIG_INT, threads,
           "Threads of one query; 0: one a processor, within reason.",
           RANGE(0, 1024, 0)),
    PLUGIN("Config", CONFIG_OBJECT, config, "Handed to the plugin as it is.",
           .default_text = "{}", .max = 1 << 20),
    PLUGIN("Grant", CONFIG_STRINGS, grant,
           "Rights beyond reading that the plugin asks for: write, exec, "
           "network.",
           .min = 0, .max = 3, .check = check_right),
    SECTION("Server.Permissions", "Who may read what."),
    ROW("Server.Permissions.Default", CONFIG_STRINGS,
        server.permissions_default, "Rules for users without their own.",
        .default_text = "^/.*", .min = 0, .max = 10000, .check = check_rule),
    ROW("Server.Permissions.Users", CONFIG_USERS, server.permissions_users,
        "Rules by user; an array of strings each.",
        .nr_offset = offsetof(struct config, server.nr_permissions_users),
        .max = 100000),
    ROW("Server.Schedule", CONFIG_JOBS, server.schedule,
        "Queries that run once a day.",
        .nr_offset = offsetof(struct config, server.nr_schedule), .max = 1000),
    JOB_ROWS("Schedule"),
    JOB("Schedule", "TimeRange", CONFIG_HOURS, time_range,
        "Hours between which the job is started: from, to (not included)."),
    JOB("Schedule", "MaxRunSeconds", CONFIG_INT, max_run_seconds,
        "Longest time for a run, in seconds; 0: no limit.",
        RANGE(0, 8640000, 21600)),
    ROW("Server.Continuous", CONFIG_JOBS, server.continuous,
        "Queries that follow files all the time.",
        .nr_offset = offsetof(struct config, server.nr_continuous),
        .max = 1000),
    JOB_ROWS("Continuous"),
    JOB("Continuous", "RestartOnDayChange", CONFIG_BOOL, restart_on_day_change,
        "Start the job anew at midnight.", .default_int = 0),
    FOREIGN("Server.OutputTransmissionDelayMs"),
    FOREIGN("Server.OutputChannelBufferSize"),
    FOREIGN("Server.OutputFlushTimeoutMs"),
    FOREIGN("Server.OutputFlushPollIntervalMs"),
    FOREIGN("Server.OutputReadRetryIntervalMs"),
    FOREIGN("Server.OutputEOFAckTimeoutMs"),
    FOREIGN("Server.OutputEOFWaitBaseMs"),
    FOREIGN("Server.OutputEOFWaitPerFileMs"),
    FOREIGN("Server.OutputEOFWaitMaxMs"),
    FOREIGN("Server.ShutdownOutputSerializeWaitMs"),
    FOREIGN("Server.ShutdownIdleRecheckWaitMs"),

    SECTION("Client", "Settings of clients."),
    ROW("Client.TermColorsEnable", CONFIG_BOOL, client.term_colors_enable,
        "Paint the output.", .default_int = 1),
    ROW("Client.AuthKeyPath", CONFIG_PATH, client.auth_key_path,
        "Private key that is offered first, and whose .pub file is "
        "registered.",
        .default_text = "~/.ssh/id_rsa", TEXT),
    ROW("Client.AuthKeyDisable", CONFIG_BOOL, client.auth_key_disable,
        "Do not register the key.", .default_int = 0),
    ROW("Client.LogPayload", CONFIG_BOOL, client.log_payload,
        "Write retrieved data into the log file too.", .default_int = 0),
    ROW("Client.TermColors", CONFIG_COLORS, client.term_colors,
        "The colours, see COLOURS.", .default_text = "{}", .max = 1 << 16),
};
const size_t config_nr_rows = sizeof(config_rows) / sizeof(config_rows[0]);

static const char *const remote_colors[] = {
    "Delimiter", "Remote",    "Count", "Hostname", "ID",
    "StatsOk",   "StatsWarn", "Text",  "Match",    NULL};
static const char *const client_colors[] = {"Delimiter", "Client", "Hostname",
                                            "Text", NULL};
static const char *const server_colors[] = {"Delimiter", "Server", "Hostname",
                                            "Text", NULL};
static const char *const common_colors[] = {"SeverityError", "SeverityFatal",
                                            "SeverityWarn", NULL};
static const char *const table_colors[] = {
    "Data",     "Delimiter",     "Header",         "HeaderDelimiter",
    "RawQuery", "HeaderSortKey", "HeaderGroupKey", NULL};
const struct config_colors config_colors[] = {
    {"Remote", remote_colors},   {"Client", client_colors},
    {"Server", server_colors},   {"Common", common_colors},
    {"MaprTable", table_colors}, {NULL, NULL},
};
