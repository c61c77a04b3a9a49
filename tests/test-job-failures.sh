# SPDX-License-Identifier: Apache-2.0
# A job that fails leaves no file, says why in one line, and is tried again; a
# stuck one and one without a program stall no other; an empty result replaces
# nothing.
. ./functions.sh || exit 99
. "$top_srcdir/tests/job-functions.sh"
requires python3

genlog stats 500 > stats.log
chmod 644 stats.log
mkfifo port
# A server that takes connections and never says a word.
python3 -c '
import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(50)
print(s.getsockname()[1], flush=True)
held = []
while True:
    held.append(s.accept())
' > port &
cleanup_fn kill_quietly $!
read -r dumb < port

query='from STATS select host,count($line) group by host'
entry() # NAME QUERY FILES OUTFILE [MEMBERS]
{
    printf '{"Name": "%s", "Enable": true, "TimeRange": [0, 24],
        "AllowFrom": ["127.0.0.1"], "Query": "%s", "Files": "%s",
        "Outfile": "%s"%s}' "$1" "$2" "$T/$3" "$4" "${5:+, $5}"
}
use_jobs "\"ShutdownGraceMs\": 500, \"Schedule\": [
    $(entry stuck "$query" stats.log "$T/out/stuck.csv" \
        "\"Servers\": [\"127.0.0.1:$dumb\"], \"MaxRunSeconds\": 2"),
    $(entry good "$query" stats.log "$T/out/good.csv"),
    $(entry elsewhere "$query" stats.log "$T/out/elsewhere.csv" \
        '"AllowFrom": ["192.0.2.1"]'),
    $(entry words 'select nothing at all from' stats.log "$T/out/words.csv"),
    $(entry twice "$query outfile /tmp/x" stats.log "$T/out/twice.csv"),
    $(entry quote "$query logformat \\\"default" stats.log "$T/out/quote.csv"),
    $(entry nobody "$query" stats.log "$T/out/nobody.csv" \
        '"Servers": ["127.0.0.1:1"]'),
    $(entry partly "$query" stats.log "$T/out/partly.csv" \
        '"Servers": ["127.0.0.1:1", "127.0.0.1:2"]'),
    $(entry nofile "$query" missing.log "$T/out/nofile.csv"),
    $(entry norow "$query where host eq \\\"no such\\\"" stats.log "$T/out/norow.csv"),
    $(entry nodir "$query" stats.log "$T/out/none/x.csv")]"
start_server
wait_until log_has 'job good\|done\|50 rows'
fails() # NAME REASON
{
    wait_until log_has "job $1\\|failed\\|.*$2.*\\|again in [0-9]+ s\$"
}
fails elsewhere 'authentication failed for user DTAIL-SCHEDULE'
assert_contains server.log 'AllowFrom of job elsewhere lacks 127.0.0.1'
fails words 'Query: '
fails twice 'Query: it has an outfile clause'
fails quote 'Query: a quote in it does not end'
fails nobody '127.0.0.1:1\|.*Connection refused'
fails partly '127.0.0.1:[12]\|.*Connection refused'
fails nodir 'none/x.csv.tmp: No such file or directory'
wait_until log_has 'job nofile\|nothing found, nothing written'
wait_until log_has 'job norow\|nothing found, nothing written'
fails stuck 'it took longer than MaxRunSeconds'
# Tried again, and no file of any of them.
wait_until log_count 3 'job nobody\|failed'
assert_eq 'files' 'good.csv good.csv.query' "$(cd out && echo *)"
stop_server
assert_eq 'files' 'good.csv good.csv.query' "$(cd out && echo *)"

# No program; and an outfile that could end the quotes it stands in.
ADD_SERVER=${ADD_SERVER/stage\/dtail-job/stage/none}
start_server
fails norow "cannot start $T/stage/none: No such file"
stop_server
use_jobs "\"Schedule\": [$(entry x "$query" a '/x\" limit \"1')]"
server_config > dtail.json
status=0
"$SERVER" --cfg dtail.json --check-config > out.txt 2>&1 || status=$?
assert_eq 'status of --check-config' 2 "$status"
assert_contains out.txt 'Schedule\[0\]: Outfile: neither double quotes'
