# SPDX-License-Identifier: Apache-2.0
# SIGHUP reads the plugin directory again, for new sessions: a new file, one
# that was replaced under its name, one that is gone, and one that went bad. A
# session that runs keeps what it has.
. ./functions.sh || exit 99
. "$top_srcdir/tests/trouble.sh"

built=$top_builddir/tests/plugins/.libs
# put FROM TO: as install does, a new file under the name.
put()
{
    cp "$built/dt-$1.so" "$PLUGIN_DIR/new"
    chmod 755 "$PLUGIN_DIR/new"
    mv "$PLUGIN_DIR/new" "$PLUGIN_DIR/dt-$2.so"
}

# reload NAMES: and waits until the server offers just these.
reload()
{
    kill -HUP "$SERVER_PID"
    wait_until last_settings "$1"
}

last_settings()
{
    grep -a 'settings|' server.log | tail -n 1 | grep -q "plugins|$1\$"
}

runs()
{
    run_client drun "$1" --plain --files "$T/small.log" > "$1.out" 2> "$1.err"
}

stage_server
rm "$PLUGIN_DIR"/dt-*.so
cp "$top_builddir/plugins/cat/.libs/dt-cat.so" "$PLUGIN_DIR"
chmod go-w "$PLUGIN_DIR"/*.so
put future x
# The client's own, so that its reduce stage is there whatever the server has.
mkdir client-plugins
cp "$built"/dt-{trouble,future}.so client-plugins
chmod -R go-w client-plugins
export DTAIL_PLUGIN_DIR=$T/client-plugins

start_server
genlog log 2000 > small.log
genlog log 400000 > big.log
chmod a+r small.log big.log
start_in_flight
set_way ssh-turbo
runs future
assert_same small.log future.out
assert_status 1 runs trouble
assert_contains trouble.err 'no command "trouble" here; there are: cat, future'

put trouble x
reload 'cat, trouble'
runs trouble
assert_same small.log trouble.out
assert_status 1 runs future
assert_contains future.err 'there are: cat, trouble'

put future y
reload 'cat, trouble, future'
runs future
put abi x
rm "$PLUGIN_DIR/dt-y.so"
reload 'cat'
assert_contains server.log 'dt-x\.so\|made for plugin ABI 2'
assert_status 1 runs trouble

put future x
for _ in 1 2 3 4 5; do
    reload 'cat, future'
    put trouble x
    reload 'cat, trouble'
    put future x
done
reload 'cat, future'
runs future
assert_same small.log future.out
check_nothing_is_left
