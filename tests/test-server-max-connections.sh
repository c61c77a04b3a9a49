# SPDX-License-Identifier: Apache-2.0
# MaxConnections: one more is closed at once, without a banner; when one of
# the others ends, there is room again.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

ADD_SERVER='"MaxConnections": 2, "LoginGraceMs": 3600000'
start_server
open_connection 4
read -r -t "$LIMIT" banner <&4
open_connection 5
read -r -t "$LIMIT" banner <&5
open_connection 6
assert_eq 'what the third gets' '' "$(read_to_end 6)"
exec 6>&-
wait_until log_has 'connection refused\|MaxConnections \(2\) reached'
exec 4>&-
wait_until has_children session 1
ssh_dtail "$TEST_USER" "$HOME/.ssh/id_ed25519" < /dev/null > out
assert_contains out '"protocol":1'
exec 5>&-
wait_until has_children session 0
stop_server
