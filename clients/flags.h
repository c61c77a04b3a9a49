/* SPDX-License-Identifier: Apache-2.0
 *
 * The flags that all commands share (spec clients 3).
 */
#ifndef CLIENTS_FLAGS_H
#define CLIENTS_FLAGS_H

#include "options.h"

/* The first member of each command's options struct. */
struct flags {
    bool cpuprofile, memprofile, profile;
    bool interactive_query;
    bool log_payload;
    bool no_auth_key;
    bool no_color;
    bool plain;
    bool quiet;
    bool trust_all_hosts;
    bool version;
    bool strict;
    bool raw, escape;
    bool stats;
    int64_t agent_key_index;
    int64_t connect_timeout;
    int64_t cpc;
    int64_t handshake_timeout;
    int64_t port;
    int64_t wait;
    const char *auth_key_path;
    const char *cfg;
    const char *color;
    const char *control_tty;
    const char *discovery;
    const char *files;
    const char *key;
    const char *log_dir;
    const char *log_level;
    const char *logger;
    const char *output;
    const char *pprof;
    const char *profile_dir;
    const char *servers;
    const char *ssh_config;
    const char *turbo;
    const char *user;
};

#define FLAGS_CPC 10
#define FLAGS_PORT 2222
#define FLAGS_HANDSHAKE 10
#define FLAGS_MAX_S 86400 /* of all limits in seconds */

#define FLAGS_BOOL(name, member, help)                                   \
    {                                                                    \
        name, OPTION_BOOL, offsetof(struct flags, member), 0, NULL, help \
    }
#define FLAGS_INT(name, member, def, help)                                \
    {                                                                     \
        name, OPTION_INT, offsetof(struct flags, member), def, NULL, help \
    }
#define FLAGS_TEXT(name, member, def, help)                               \
    {                                                                     \
        name, OPTION_STRING, offsetof(struct flags, member), 0, def, help \
    }

/* Rows for a command's table. */
#define FLAGS_COMMON                                                           \
    FLAGS_INT("agentKeyIndex", agent_key_index, -1,                            \
              "Use only this key (from 0) of the SSH agent; negative: all"),   \
        FLAGS_TEXT("auth-key-path", auth_key_path, "",                         \
                   "Private key file that is offered first"),                  \
        FLAGS_TEXT("cfg", cfg, "", "Configuration file; none: read no file"),  \
        FLAGS_TEXT("color", color, "auto",                                     \
                   "Colours: auto (on a terminal), always, never"),            \
        FLAGS_INT("connect-timeout", connect_timeout, 0,                       \
                  "Seconds for each address; 0: as in the settings"),          \
        FLAGS_TEXT("control-tty", control_tty, "/dev/tty",                     \
                   "Device for questions and interactive control"),            \
        FLAGS_INT("cpc", cpc, FLAGS_CPC,                                       \
                  "Connections being established at once, per CPU"),           \
        FLAGS_BOOL("cpuprofile", cpuprofile, "Print CPU use at the end"),      \
        FLAGS_TEXT(                                                            \
            "discovery", discovery, "",                                        \
            "How servers are found: comma, file, dns-srv:NAME, exec:PROGRAM"), \
        FLAGS_BOOL("escape", escape,                                           \
                   "Show control bytes of lines, also into a pipe"),           \
        FLAGS_TEXT("files", files, "", "Comma-separated files and globs"),     \
        FLAGS_INT("handshake-timeout", handshake_timeout, FLAGS_HANDSHAKE,     \
                  "Seconds for SSH handshake, log-in, session, each"),         \
        FLAGS_BOOL("interactive-query", interactive_query,                     \
                   "Keep the session open and take commands"),                 \
        FLAGS_TEXT("key", key, "", "Obsolete name of auth-key-path"),          \
        FLAGS_BOOL("log-payload", log_payload,                                 \
                   "Write retrieved data into the log file, too"),             \
        FLAGS_TEXT("logDir", log_dir, "~/log", "Directory of the log file"),   \
        FLAGS_TEXT("logLevel", log_level, "info", "Log level"),                \
        FLAGS_TEXT("logger", logger, "fout",                                   \
                   "Where diagnostics go: fout, stdout, file, none"),          \
        FLAGS_BOOL("memprofile", memprofile, "Print memory use at the end"),   \
        FLAGS_BOOL("no-auth-key", no_auth_key, "Do not register the key"),     \
        FLAGS_BOOL("noColor", no_color, "No terminal colours"),                \
        FLAGS_BOOL("plain", plain, "Print bare lines"),                        \
        FLAGS_INT("port", port, FLAGS_PORT,                                    \
                  "Port of servers given without one"),                        \
        FLAGS_TEXT("pprof", pprof, "",                                         \
                   "Accepted; live profiling is not available"),               \
        FLAGS_BOOL("profile", profile, "Print CPU and memory use at the end"), \
        FLAGS_TEXT("profiledir", profile_dir, "profiles",                      \
                   "Directory of the profile files"),                          \
        FLAGS_BOOL("quiet", quiet, "No periodic statistics, no progress"),     \
        FLAGS_BOOL("raw", raw,                                                 \
                   "Send control bytes of lines to a terminal as they are"),   \
        FLAGS_TEXT(                                                            \
            "servers", servers, "",                                            \
            "Servers: comma list, file, - or /FILTER/; empty: serverless"),    \
        FLAGS_TEXT("ssh-config", ssh_config, "",                               \
                   "SSH settings; empty: ~/.ssh/config; none: read no file"),  \
        FLAGS_BOOL("stats", stats, "Print statistics of the run at its end"),  \
        FLAGS_BOOL("strict", strict,                                           \
                   "Missing and unreadable files are failures"),               \
        FLAGS_BOOL("trustAllHosts", trust_all_hosts,                           \
                   "Accept and store unknown host keys without asking"),       \
        FLAGS_TEXT("turbo", turbo, "yes",                                      \
                   "no: ask for the normal way of delivery"),                  \
        FLAGS_TEXT("user", user, "", "SSH user name; empty: log-in name"),     \
        FLAGS_BOOL("version", version, "Print the version"),                   \
        FLAGS_INT("wait", wait, 0,                                             \
                  "Seconds, then go on without who has not answered; 0: no")
/* A row of its own, since queries have other forms. */
#define FLAGS_OUTPUT                        \
    FLAGS_TEXT("output", output, "default", \
               "Form of lines: default, plain, ndjson")
#define FLAGS_END                           \
    {                                       \
        NULL, OPTION_BOOL, 0, 0, NULL, NULL \
    }

#endif
