# SPDX-License-Identifier: Apache-2.0
# Sourced after functions.sh by the tests of jobs: the program that dserver
# starts for them, and a short time between two looks.

requires_program dserver dtail-job
requires_plugin mapr

# What the server's user can reach (functions.sh, stage_server).
stage_server
mkdir -p "$T/stage" "$T/out"
cp "$(program_path dtail-job)" "$T/stage/dtail-job"
chmod 755 "$T/stage/dtail-job"
[ "$(id -u)" -ne 0 ] || chown "$TEST_USER:" "$T/out"
chmod 755 "$T/out"

# use_jobs MEMBERS: ADD_SERVER of a server with the jobs in MEMBERS.
use_jobs()
{
    ADD_SERVER='"JobProgram": "'$T'/stage/dtail-job", "JobCheckMs": 100, '$1
}

log_has() # EXTENDED-REGEX
{
    grep -aqE -e "$1" "$T/server.log"
}

log_count() # NUMBER EXTENDED-REGEX: so often, or more
{
    [ "$(grep -acE -e "$2" "$T/server.log")" -ge "$1" ]
}

# reload_server: SIGHUP with the configuration that ADD_SERVER gives now.
reload_server()
{
    local nr
    nr=$(grep -ac 'reloaded|' "$T/server.log" || true)
    server_config > "$T/dtail.json"
    kill -HUP "$SERVER_PID"
    wait_until log_count $((nr + 1)) 'reloaded\|'
}
