# SPDX-License-Identifier: Apache-2.0
# A port that is taken is a start-up error that names it.
. ./functions.sh || exit 99
requires_program dserver

start_server
status=0
HOME=$T/server "${wrapper[@]}" "$(program_path dserver)" --cfg "$T/dtail.json" \
    --port "$PORT" --logger stderr > second.out 2>&1 || status=$?
[ "$status" -ne 0 ] || fail "the second server started"
assert_contains second.out "$PORT"
stop_server
