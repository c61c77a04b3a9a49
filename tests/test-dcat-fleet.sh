# SPDX-License-Identifier: Apache-2.0
# One client and 200 servers, known_hosts with 10,000 hashed lines, 5 % of the
# servers dead, silent, slow or cutting off: every good line arrives once, each
# bad server is named once. The limit of descriptors is raised, and respected.
# bench/fanout.sh does the same with 1,000.
. ./functions.sh || exit 99
requires python3 ssh-keygen
nr=190
ADD_SERVER='"MaxConnections": 1000, "MaxStartups": 500'
. "$top_srcdir/tests/fleet-functions.sh"
fleet_start $nr "silent silent late:1:PORT late:1:PORT half:1000:PORT half:1000:PORT drop:1000:PORT"
fleet="h[0001-0$nr],127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"

dcat()
{
    run_client dcat --user "$TEST_USER" --no-auth-key --plain "$@" \
        "$T/line" 2> err < /dev/null
}

assert_status 3 dcat --handshake-timeout $((LIMIT / 6)) \
    --servers "$fleet,$fleet_bad" > out
assert_eq "lines of 190 good and 2 slow servers" 192 "$(wc -l < out)"
assert_lacks out '^(a line.|[^a]|a[^ ])' # whole lines
assert_eq "lines about 8 bad servers" 8 "$(grep -c 'ERROR|' err)"
for port in 1 2 3; do
    assert_eq "about port $port" 1 "$(grep -c "ERROR|127.0.0.1:$port|" err)"
done
assert_contains err 'no SSH handshake with'
assert_contains err 'closed the connection before the log-in'

# The soft limit is raised without a word, the hard one is said and kept.
(
    ulimit -S -n 50
    dcat --handshake-timeout $LIMIT --servers "h[0001-0$nr]" > out
)
assert_eq "with a low soft limit" $nr "$(wc -l < out)"
assert_lacks err 'WARN|ERROR'
(
    ulimit -n 140
    dcat --handshake-timeout $LIMIT --servers "h[0001-0$nr]" > out || cat err >&2
)
assert_eq "with a low hard limit" $nr "$(wc -l < out)"
assert_contains err 'limit of 140 descriptors .* allows 76 of 190 connections'
stop_server
