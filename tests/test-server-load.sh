# SPDX-License-Identifier: Apache-2.0
# Many sessions of all kinds at once, more than there are read slots: all are
# served, and nothing is left behind; sessions and workers that are killed take
# no other along. load.py says more; bench/run load is the same at full size,
# with a look at how long each waits for a slot (here: core/test-slots.c).
. ./functions.sh || exit 99
requires_program dserver dcat dgrep dmap dtail
requires_plugin cat grep tail mapr
requires python3

genlog log 100000 > log
chmod 644 log
ADD_SERVER='"MaxConnections": 200, "MaxConcurrentCats": 8, "MaxConcurrentTails": 100'
start_server

load() # ARGUMENTS...
{
    python3 "$top_srcdir/tests/load.py" --port "$PORT" --server "$SERVER_PID" \
        --server-log "$T/server.log" --bin "$top_builddir/clients" \
        --key "$HOME/.ssh/id_ed25519" --user "$TEST_USER" --log "$T/log" "$@"
}
# Sanitizers and valgrind have memory of their own.
memory=200
[ ${#wrapper[@]} -eq 0 ] &&
    grep -q '^S\["SANITIZER_FLAGS"\]=""' "$top_builddir/config.status" ||
    memory=0
load --sessions 160 --at-once 40 --memory $memory || fail 'see above'
: > server.log
load --sessions 160 --at-once 40 --kill 20 --memory $memory || fail 'see above'
stop_server
