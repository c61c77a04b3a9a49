# SPDX-License-Identifier: Apache-2.0
# The statistics line in the server's log, and dmap that queries the log of
# the server it asks.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dmap
requires_plugin mapr

start_server --logger file
log=$T/server/log/$(date +%Y%m%d).log
line='^INFO\|[0-9]{4}-[0-9]{6}\|'$SERVER_PID'\|stats\.c:[0-9]+\|'$(nproc --all)
line+='\|[0-9]+\|0\|[0-9]+\.[0-9]+\|([0-9]+h)?([0-9]+m)?[0-9]+s\|'
line+='MAPREDUCE:STATS\|currentConnections='
has_stats() # REST
{
    grep -qE "$line$1\$" "$log"
}
wait_until has_stats '0\|lifetimeConnections=0\|preAuthConnections=0'

set_way ssh-turbo
# The server writes it at the latest with the next line that is due.
has_result()
{
    run_client dmap --plain --files "$log" --query 'from STATS select max(currentConnections),max(lifetimeConnections),last($uptime),count($pid) group by $cpus outfile result.csv' \
        > out 2> err
    grep -qE '^[1-9][0-9]*\.0+,[1-9][0-9.]*,[0-9hm]*s,' result.csv
}
wait_until has_result
wait_until has_stats '1\|lifetimeConnections=[0-9]+\|preAuthConnections=0'
stop_server
