# SPDX-License-Identifier: Apache-2.0
# A plugin that tries to write a file, start a program, open a socket, trace or
# signal a process or reach the kernel otherwise is refused in a worker; what is
# in force is said; a plugin that asks for more needs the administrator's grant.
. ./functions.sh || exit 99
requires_program dserver drun
escape=$top_builddir/tests/plugins/.libs
[ -f "$escape/dt-escape.so" ] || fail "make check at the top builds tests/plugins"
stage_server
cp "$escape"/dt-{escape,granted}.so "$PLUGIN_DIR"
chmod go-w "$PLUGIN_DIR"/dt-*.so
export DTAIL_PLUGIN_DIR=$PLUGIN_DIR
echo line > log
chmod 644 log
mkdir open
chmod 777 open

server_config > dtail.json
assert_status 0 "$SERVER" --cfg dtail.json --list-plugins > list
grep -q 'sandbox: Landlock [0-9].*; seccomp (no ptrace, no exec' list || {
    grep '^sandbox:' list
    skip "needs a kernel with Landlock, and libseccomp"
}
assert_contains list '^sandbox: Landlock .*files read-only'
assert_contains list 'Server\.Plugins\.granted\.Grant lacks "write", "exec", "network"'

# attempt PLUGIN WHAT: what came of it is in `result`. The file is one that
# everybody may write, so that nothing but the sandbox refuses.
attempt()
{
    rm -rf open/file open/file.d
    [ "$2" = create ] || { echo x > open/file; chmod 666 open/file; }
    [ "$2" != chmod ] || chown "$TEST_USER" open/file
    run_client drun "$1" --plain --files "$T/log" --arg "do=$2" \
        --arg "file=$T/open/file" > result
}

files='create append openat2 chmod mkdir unlink'
others='fork spawn tcp unix ptrace signal'
start_server
assert_contains server.log 'sandbox.Landlock [0-9].*seccomp'
for way in ssh-turbo ssh-normal; do
    set_way $way
    for what in $files $others exec io_uring; do
        attempt escape $what
        assert_contains result "^$what: E(PERM|ACCES)\$"
    done
done
# The same attempts without a sandbox: each would do what it tries.
for way in serverless-turbo serverless-normal; do
    set_way $way
    for what in $files $others; do
        attempt escape $what
        assert_eq "unconfined" "$what: done" "$(cat result)"
    done
done
set_way ssh-turbo
status=0
run_client drun granted --files "$T/log" > out 2> err || status=$?
assert_eq "status without a grant" 1 $status
assert_contains err 'granted.*Grant lacks "write", "exec", "network"|no command "granted"'
stop_server

# Granted: this much more and nothing else.
start_with() # MEMBERS
{
    ADD_SERVER=$1 start_server
}
start_with '"Plugins": { "granted": { "Grant": ["write", "exec", "network"] } }'
assert_contains server.log 'sandbox.*granted to plugins: write, exec, network'
for way in ssh-turbo ssh-normal; do
    set_way $way
    for what in $files fork spawn tcp unix; do
        attempt granted $what
        assert_eq "granted" "$what: done" "$(cat result)"
    done
    for what in ptrace signal io_uring; do
        attempt granted $what
        assert_contains result "^$what: EPERM\$"
    done
done
stop_server

# A part of what it asks for is not enough, and the configuration wants it.
ADD_SERVER='"Plugins": { "granted": { "Grant": ["write"] } }' \
    server_config > part.json
assert_status 2 timeout "$LIMIT" "$SERVER" --cfg part.json --port 0 \
    --logger stderr 2> err < /dev/null
assert_contains err 'granted\.Grant lacks "exec", "network"'
ADD_SERVER='"Plugins": { "granted": { "Grant": ["read"] } }' \
    server_config > wrong.json
assert_status 2 "$SERVER" --cfg wrong.json --check-config 2> err
assert_contains err 'Grant.*"read" is no right; allowed are'

start_with '"Sandbox": "require"'
set_way ssh-turbo
attempt escape create
assert_contains result '^create: E(PERM|ACCES)$'
stop_server

start_with '"Sandbox": "off"'
assert_contains server.log 'sandbox.off \(Server\.Sandbox\)'
set_way ssh-turbo
for what in $others; do
    attempt escape $what
    assert_eq "Sandbox is off" "$what: done" "$(cat result)"
done
stop_server
ADD_SERVER='"Sandbox": "perhaps"' server_config > wrong.json
assert_status 2 "$SERVER" --cfg wrong.json --check-config 2> err
assert_contains err 'Server\.Sandbox.*auto.*require.*off'
