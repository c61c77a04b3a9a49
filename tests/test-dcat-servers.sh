# SPDX-License-Identifier: Apache-2.0
# Several servers: whole lines of each, status 3 and a name when one is dead, 1
# when all are; lists in files, from standard input and as ranges; duplicates
# asked once.
. ./functions.sh || exit 99
genlog log 30000 > log
chmod 644 log
start_server
one=$SERVER_PID one_port=$PORT one_args=("${SSH_ARGS[@]:2}")
start_server
two=$SERVER_PID two_port=$PORT
dead=1

dcat()
{
    run_client dcat --plain "${one_args[@]}" "$@" "$T/log" 2> err
}

sort log log > want
dcat --servers "127.0.0.1:$one_port,127.0.0.1:$two_port" | sort > out
assert_same want out
printf '# servers\n127.0.0.1:%s\r\n\n127.0.0.1:%s\n127.0.0.1:%s\n' \
    "$one_port" "$two_port" "$one_port" > list
dcat --servers list | sort > out
assert_same want out
dcat --servers "127.0.0.1,127.0.0.1" --port "$one_port" > out
assert_same log out

# From standard input, and as ranges.
dcat --servers - < list | sort > out
assert_same want out
dcat --servers "127.0.0.[1-1]:$one_port,127.0.0.1:[$two_port-$two_port]" |
    sort > out
assert_same want out
assert_status 2 dcat --servers 'web[3-1]' > out
assert_contains err 'web\[3-1\].*\[FIRST-LAST\]'

assert_status 3 dcat --servers "127.0.0.1:$one_port,127.0.0.1:$dead" > out
assert_same log out
assert_contains err "\|ERROR\|127\.0\.0\.1:$dead\|failed to dial TCP connection to 127\.0\.0\.1:$dead: .*refused"
assert_status 1 dcat --servers "127.0.0.1:$dead,[::1]:$dead" > out
assert_eq "output" '' "$(cat out)"
assert_status 1 dcat --servers "no-such-host.invalid" > out
assert_contains err 'look-up of no-such-host.invalid'
stop_server "$two"
stop_server "$one"
