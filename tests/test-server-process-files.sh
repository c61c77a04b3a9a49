# SPDX-License-Identifier: Apache-2.0
# Files of /proc about processes are not given out by the server, by whatever
# name: they would tell where its programs are in memory.
. ./functions.sh
requires_program dserver dcat
requires_plugin cat

start_server
set_way ssh-turbo
for file in /proc/self/maps /proc/thread-self/maps "/proc/$SERVER_PID/maps" \
    "/proc/$SERVER_PID/cmdline" /proc/self/root/proc/self/maps; do
    assert_status 1 run_client dcat --strict "$file" > out 2> client.err
    [ ! -s out ] || fail "$file was given out"
    assert_contains client.err 'permission denied'
done
# what belongs to none is read as before
run_client dcat --plain /proc/version > out
assert_same /proc/version out
stop_server
