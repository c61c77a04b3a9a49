# SPDX-License-Identifier: Apache-2.0
# The number of tries of one connection: six keys, and not many questions that
# need none; each ends that connection and nothing else.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

ADD_SERVER='"LoginGraceMs": 3600000'
start_server
keys=()
for i in 1 2 3 4 5 6; do
    make_key wrong$i
    keys+=(-i "$HOME/.ssh/wrong$i")
done
five=("${keys[@]:0:10}")

offer() # KEYS...: the good one last
{
    timeout -k 10 "$LIMIT" ssh "${SSH_OPTIONS[@]}" -o LogLevel=INFO "$@" \
        -i "$HOME/.ssh/id_ed25519" -p "$PORT" -l "$TEST_USER" 127.0.0.1 \
        -s dtail < /dev/null > out 2> err
}
offer "${five[@]}" || fail "five wrong keys and a good one: $(cat err)"
assert_contains out '"protocol":1'
assert_status 255 offer "${keys[@]}"
assert_eq 'keys looked up' 6 "$(grep -c 'key refused' <(tail -n 8 server.log))"
wait_until log_has 'too many authentication failures'

# Ten questions are free, six more are counted like keys.
answered=$("$top_builddir/tests/knock" "$PORT" "$TEST_USER" 1000)
[ "$answered" -ge 10 ] && [ "$answered" -le 17 ] ||
    fail "answered $answered times"
wait_until has_children session 0
stop_server
