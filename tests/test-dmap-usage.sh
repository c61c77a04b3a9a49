# SPDX-License-Identifier: Apache-2.0
# The command line of dmap: where the query comes from, what is refused before
# anything is connected, with its place, and what is only warned about.
. ./functions.sh
requires_plugin mapr
genlog stats 200 > log
chmod 644 log
query='from STATS select count($line) group by $hostname'
make_key id_ed25519

dmap()
{
    run_client dmap --noColor --auth-key-path "$HOME/.ssh/id_ed25519" "$@" 2> err
}

# A server that cannot be reached: status 1; refused before: status 2.
refused() # WHAT ARGS...
{
    local what=$1
    shift
    assert_status 2 dmap --servers 127.0.0.1:1 "$@" > out
    assert_contains err "$what"
    assert_lacks err 'failed to dial'
    assert_eq "output" '' "$(cat out)"
}

refused 'No mapreduce query specified' "$T/log"
refused 'Unknown aggregation' --query 'select nonsense(x) from STATS' "$T/log"
assert_contains err '^ +\^'
assert_contains err 'expected: '
assert_contains err '\|FATAL\|select nonsense.*\|Can.t parse mapr query\|'
refused 'Not enough arguments' 'select count(x) from STATS where y <' "$T/log"
refused 'no files' --query "$query"
refused 'table, csv, json and ndjson' --output xml --query "$query" "$T/log"
refused 'at most 86400' --timeout 86401 --query "$query" "$T/log"
assert_status 1 dmap --servers 127.0.0.1:1 --query "$query" "$T/log"
assert_contains err 'failed to dial'
assert_contains err 'result is of 0 of 1 servers'

# The query by flag, as the first word with "select ", and beside --files.
for form in 1 2 3 4; do
    case $form in
    1) set -- --query "$query" "$T/log" ;;
    2) set -- "$query" "$T/log" ;;
    3) set -- "$T/log" "${query/select/SELECT}" ;;
    4) set -- --files "$T/log" "$query" ;;
    esac
    dmap --output csv "$@" > out || fail "form $form: $(cat err)"
    assert_eq "form $form" 200 "$(sed 1d out)"
done
dmap --output csv --query "$query" < log > out
assert_eq "standard input" 200 "$(sed 1d out)"

# A variable that nobody knows, and a misspelt field with what is near it.
dmap --query 'from STATS select last($hostnam) group by $line' "$T/log" > out
assert_contains err '^warning: \$hostnam is not a known variable'
dmap --query 'from STATS select max(lifetim) group by $hostname' "$T/log" > out
assert_contains err 'lifetim was on no line; did you mean lifetime'

# Forms of the result.
dmap --output json --query "$query" "$T/log" > out
assert_contains out '\{"count\(\$line\)": 200\}'
dmap --output ndjson --query "$query" "$T/log" > out
assert_eq ndjson '{"count($line)": 200}' "$(cat out)"
dmap --plot --query "$query" "$T/log" > out
assert_contains out '█'
assert_contains out 'count\(\$line\)'
# Bytes of the data never reach a terminal as they are.
printf 'k=a\033[2Jb|v=1\n' > evil
dmap --escape --query 'select k,count(v) group by k logformat generickv' \
    "$T/evil" > out
assert_contains out 'a\\x1b\[2Jb'
