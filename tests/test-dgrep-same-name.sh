# SPDX-License-Identifier: Apache-2.0
# Two servers with the same host name have counts of their own, as have their
# rows of a plugin that counts.
. ./functions.sh || exit 99
requires_program dserver drun
requires_plugin grep

genlog log 5000 > log
chmod 644 log
stage_server
hello=$top_builddir/tests/plugins/.libs/dt-hello.so
[ -f "$hello" ] || fail "make check at the top builds tests/plugins"
cp "$hello" "$PLUGIN_DIR"
export DTAIL_PLUGIN_DIR=$PLUGIN_DIR
start_server
one=$PORT one_pid=$SERVER_PID
start_server

for turbo in yes no; do
    WAY_ARGS=("${SSH_ARGS[@]}" --servers "127.0.0.1:$one,127.0.0.1:$PORT"
        --turbo="$turbo")
    run_client dgrep --count --regex ERROR "$T/log" > out 2> err
    sed 's/^[^:]*://' out > out.files
    printf 'log:%d\nlog:%d\n' "$(grep -c ERROR log)" "$(grep -c ERROR log)" \
        > want
    assert_same want out.files
    run_client drun hello "$T/log" > out 2> err
    awk '{ print $1 }' out > out.lines
    printf 'LINES\n5000\n5000\n10000\n' > want
    assert_same want out.lines
done
stop_server "$one_pid"
stop_server
