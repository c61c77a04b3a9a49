# SPDX-License-Identifier: Apache-2.0
# The audit: one line a query in the server's log, which says who read what,
# from where, how, how much, how long and with what end; also of a query that
# was refused, was cancelled, or died with its worker. dmap can query the lines.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dcat dgrep dmap dtail
requires_plugin cat grep mapr tail

genlog log 3000 > app.log
echo 'a line' > 'odd|name,with\signs'
chmod 644 app.log odd*
bytes=$(stat -c %s app.log)
start_server

# The line's beginning, in the layout of DTail 4's statistics.
head='^INFO\|[0-9]{4}-[0-9]{6}\|[0-9]+\|audit\.c:[0-9]+\|[0-9]+\|[0-9]+\|0\|'
head+='[0-9.]*\|([0-9]+h)?([0-9]+m)?[0-9]+s\|MAPREDUCE:AUDIT'
head+="\\|user=$TEST_USER\\|peer=127\\.0\\.0\\.1:[0-9]+\\|job="

audited() # PLUGIN MODE REST
{
    wait_until log_has "$head\\|plugin=$1\\|mode=$2\\|$3"
}
files='follow=no\|files='$T'/app\.log\|asked=1\|read=1\|failed=0\|status=0'
end='\|duration=[0-9]+\.[0-9]{3}\|message=$'

for mode in turbo normal; do
    set_way ssh-$mode
    run_client dcat --plain --files "$T/app.log" > out
    audited cat $mode "$files\\|bytes=$bytes\\|bytesSent=$bytes\\|lines=3000$end"
    run_client dgrep --plain --regex 7 --files "$T/app.log" > out
    audited grep $mode \
        "$files\\|bytes=$bytes\\|bytesSent=$(stat -c %s out)\\|lines=$(wc -l < out)$end"
    run_client dmap --files "$T/app.log" \
        --query 'select count($line) from X group by $hostname' > out 2> err
    audited map $mode "$files\\|bytes=$bytes\\|bytesSent=[1-9][0-9]*\\|lines=0$end"
    set_way ssh-$mode
    start_client dtail --plain --lines 5 --files "$T/app.log"
    wait_until eval '[ "$(wc -l < client.out)" -eq 5 ]'
    kill -TERM "$CLIENT_PID"
    wait_client || true
    audited tail $mode \
        "follow=yes\\|files=$T/app\\.log\\|asked=1\\|read=1\\|failed=0\\|status=-?[0-9]+\\|bytes=[1-9][0-9]*\\|bytesSent=[1-9][0-9]*\\|lines=5\\|"
done

# Not to be read, and refused; names cannot make fields or lines of their own.
set_way ssh-turbo
run_client dcat --files "$T/missing" > out 2> err || true
audited cat turbo 'follow=no\|files=.*/missing\|asked=1\|read=0\|failed=1\|'
run_client dcat --plain --files "$T/odd|name?with?signs" > out
audited cat turbo 'follow=no\|files=[^|]*/odd\\x7cname\?with\?signs\|asked=1\|read=1\|'
requests()
{
    hello
    frame 2 '{"id":7,"plugin":"no|such","files":["/a","/b"],"last":true}'
}
requests | ssh_dtail "$TEST_USER" "$HOME/.ssh/id_ed25519" > out
audited other normal 'follow=no\|files=/a,/b\|asked=2\|read=0\|failed=0\|status=-[0-9]+\|bytes=0\|bytesSent=0\|lines=0\|duration=[0-9.]+\|message=no command "no\\x7csuch" here'

# A worker that is killed takes its query along, and that is told.
mkfifo in
ssh_dtail "$TEST_USER" "$HOME/.ssh/id_ed25519" < in > out &
ssh=$!
exec 7> in
hello >&7
frame 2 '{"id":1,"plugin":"tail","files":["'"$T"'/app.log"],"follow":true,"from_start":true}' >&7
wait_until grep -aqF "$(tail -n 1 app.log)" out
kill -KILL "$(children worker)"
wait $ssh || true # it has lost its session
exec 7>&-
audited tail turbo 'follow=yes\|.*\|message=.*died of SIGKILL$'

# No line was held back, and all can be queried.
[ "$(grep -ac 'MAPREDUCE:AUDIT' server.log)" -eq 12 ] ||
    fail "$(grep -ac MAPREDUCE:AUDIT server.log) lines instead of 12"
cp server.log audit.log
chmod 644 audit.log
WAY_ARGS=()
run_client dmap --plain --files "$T/audit.log" --query 'from AUDIT select plugin,count($line),sum(lines) group by plugin outfile result.csv' > out 2> err
assert_contains result.csv '^cat,4,6001'
assert_contains result.csv '^grep,2,'
assert_contains result.csv '^tail,3,'
stop_server
