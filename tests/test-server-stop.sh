# SPDX-License-Identifier: Apache-2.0
# The server says when it listens, and after SIGTERM ends with status 0 and
# leaves no process behind.
. ./functions.sh || exit 99
requires_program dserver

start_server
[ "$PORT" -gt 0 ] || fail "port '$PORT'"
exec 4<> "/dev/tcp/127.0.0.1/$PORT"
read -r -t "$LIMIT" banner <&4
case $banner in
SSH-2.0-dserver_*) ;;
*) fail "identification: '$banner'" ;;
esac
# A connection that never logs in does not keep it.
stop_server
