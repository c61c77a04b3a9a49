# SPDX-License-Identifier: Apache-2.0
# A crash in any hook ends that one query: the client names plugin, hook and
# signal, its status is 1, the server logs it, and nobody else notices.
. ./functions.sh || exit 99
. "$top_srcdir/tests/trouble.sh"
case ${DTAIL_TEST_WRAPPER:-} in
*valgrind*) skip "valgrind counts each crash as an error" ;;
esac
# A sanitizer would report each crash; here they are meant.
handle=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0
export ASAN_OPTIONS=$ASAN_OPTIONS:$handle:handle_abort=0
export TSAN_OPTIONS=$TSAN_OPTIONS:$handle:handle_abort=0
start_troubled_server

# crash HOW SIGNAL STAGE HOOK
crash()
{
    run_trouble 1 "$1" "$4" "$3"
    assert_contains trouble.err "plugin trouble (crashed in $4: $2|died of $2 in $4)"
}

for way in serverless-turbo serverless-normal ssh-turbo ssh-normal; do
    set_way "$way"
    for hook in start feed finish drain close; do
        crash crash SIGSEGV map "$hook"
        crash abort SIGABRT map "$hook"
        crash crash SIGSEGV reduce "$hook"
    done
    crash overflow SIGSEGV map feed
    crash division SIGFPE map feed
done
for hook in start feed finish drain close; do
    assert_contains server.log "plugin trouble died of SIGSEGV in $hook"
done
check_nothing_is_left
