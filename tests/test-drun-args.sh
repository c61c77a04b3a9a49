# SPDX-License-Identifier: Apache-2.0
# drun: lists plugins with their arguments, checks arguments where the plugin
# is installed, takes flags on both sides of the name.
. ./functions.sh || exit 99
compiler=${CC:-cc} # may have arguments
requires make pkg-config "${compiler%% *}"
printf 'one\ntwo three\n' > f
chmod 644 f

run_client drun --list > out
assert_contains out '^cat [^ ]+ +print whole files$'
assert_status 2 run_client drun 2> err
assert_contains err 'no plugin named'
assert_status 2 run_client drun cat --arg x=1 f 2> err
assert_contains err 'plugin cat has no argument "x"'
assert_status 2 run_client drun cat --arg x f 2> err
assert_contains err '"x" is not of the form NAME=VALUE'
assert_status 2 run_client drun nonesuch f 2> err
assert_contains err 'no command "nonesuch".*cat'

check()
{
    run_client drun cat --plain --files "$T/f" > out
    assert_same f out
    run_client drun --plain cat "$T/f" > out
    assert_same f out
    run_client drun --plain cat -files "$T/f" > out
    assert_same f out
}
run_both_ways check

# A command that only the server has, or that it lacks.
mkdir no-plugins
chmod 755 no-plugins
start_server
WAY_ARGS=("${SSH_ARGS[@]}")
DTAIL_PLUGIN_DIR=$T/no-plugins run_client drun cat --plain "$T/f" > out
assert_same f out
assert_status 1 run_client drun nonesuch "$T/f" 2> err
assert_contains err 'nonesuch'
stop_server
