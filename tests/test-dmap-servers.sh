# SPDX-License-Identifier: Apache-2.0
# One input cut over three files and two servers gives the bytes of the whole;
# a server that is missing is named, and the others' result is shown.
. ./functions.sh
requires_program dserver
requires_plugin mapr
genlog stats 20000 > whole
split -n l/3 whole part-
chmod 644 whole part-a?
query='from STATS select host,count($line),sum(took),avg(took),min(took),
    max(took),percentage(took),percentile(took),count_distinct(lifetime),
    quantile(took,0.9) group by host order by sum(took)'
export DTAIL_HOSTNAME_OVERRIDE=testhost

run_client dmap --output csv --query "$query" "$T/whole" > want
[ "$(wc -l < want)" -eq 51 ] || fail "not 50 groups: $(head -n 3 want)"

# Each server may read its share only.
ADD_SERVER='"Permissions": {"Default": ["readfiles:^/.*/part-a[ab]$"]},
    "Plugins": {"map": {"Threads": 4}}'
start_server
one=$SERVER_PID one_port=$PORT
ADD_SERVER='"Permissions": {"Default": ["readfiles:^/.*/part-ac$"]}'
start_server
two=$SERVER_PID two_port=$PORT
SSH_ARGS=("${SSH_ARGS[@]:2}")

dmap() # SERVERS ARGS...
{
    local servers=$1
    shift
    WAY_ARGS=("${SSH_ARGS[@]}" --servers "$servers")
    run_client dmap --output csv "$@" --query "$query" \
        "$T/part-aa" "$T/part-ab" "$T/part-ac" 2> err
}

both=127.0.0.1:$one_port,127.0.0.1:$two_port
for mode in yes no; do
    dmap "$both" --turbo=$mode > out
    assert_same want out
done

dmap "127.0.0.1:$one_port" > one.csv
status=0
dmap "127.0.0.1:$one_port,127.0.0.1:1" > out || status=$?
assert_eq "one missing: status" 3 $status
assert_same one.csv out
assert_contains err 'result is of 1 of 2 servers; missing or incomplete: 127\.0\.0\.1:1$'
stop_server "$two"
stop_server "$one"
