# SPDX-License-Identifier: Apache-2.0
# Failed log-ins of a source add up until its connections are refused, for a
# while; exempt ones and good log-ins are not touched.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

key=$HOME/.ssh/id_ed25519
good()
{
    ssh_dtail "$TEST_USER" "$key" < /dev/null > out 2> err
}
bad()
{
    assert_status 255 ssh_dtail "$TEST_USER" "$HOME/.ssh/other" \
        < /dev/null > out 2> err
}

# Refused from the third failure on that is owed, and for as long as it takes
# to run down: long enough for a slow machine to try four times meanwhile.
ADD_SERVER='"FailurePenaltyExempt": [], "FailurePenaltyMs": 3000,
    "FailurePenaltyMaxMs": 12000'
start_server
make_key other
for i in 1 2 3 4; do
    good
done
bad
bad
good
is_refused()
{
    bad
    log_has '127.0.0.1\|too many failed log-ins\|connections from there are refused for ([6-9]|1[0-2]) s'
}
wait_until is_refused
: > "$T/server.log"
refused=0
good || refused=1
assert_eq 'refused with the good key, too' 1 "$refused"
assert_lacks "$T/server.log" 'logged in'
wait_until good
stop_server

# This machine is exempt unless the settings say otherwise.
ADD_SERVER='"FailurePenaltyMs": 3600000'
start_server
for i in 1 2 3 4; do
    bad
done
good
stop_server
