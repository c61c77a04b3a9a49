# SPDX-License-Identifier: Apache-2.0
# What a real terminal shows, by tmux: the line of progress, also after the
# terminal became narrower, gone at the end; the question about unknown hosts;
# a follow over three servers, whole lines in the colours of hosts.
. ./functions.sh || exit 99
requires tmux
export TERM=xterm
unset NO_COLOR TMUX

tm()
{
    tmux -L "$test_name.$$" -f /dev/null "$@"
}

# screen WIDTH COMMAND: in a terminal of that many columns.
screen()
{
    tm kill-server 2> /dev/null || true
    wait_until no_server
    tm new-session -d -x "$1" -y 20 "$2; echo status \$?; read -r _ < '$T/hold'"
    cleanup_fn eval "tm kill-server 2> /dev/null || true"
}

no_server()
{
    ! tm list-sessions > /dev/null 2>&1
}

shows()
{
    tm capture-pane -p "${@:2}" > shown 2> /dev/null
    grep -qE -e "$1" shown
}

mkfifo hold slow
dcat=$(program_path dcat)
dgrep=$(program_path dgrep)

# ---- progress ----

screen 60 "'$dgrep' --cfg none --plain --grep yes '$T/slow'"
exec 7> slow
printf 'yes 1\n' >&7
wait_until shows '^[0-9]+ B, [0-9.]+ B/s$'
grep -qx 'yes 1' shown || fail "no data above the line: $(cat shown)"
tm resize-window -x 12
printf 'yes 2\n' >&7
wait_until shows '^yes 2$'
wait_until shows '^[0-9]+ B'
exec 7>&-
wait_until shows '^status 0$'
assert_eq "the screen at the end" $'yes 1\nyes 2\nstatus 0' \
    "$(sed '/^$/d' shown)"

# ---- unknown hosts, and three that are followed ----

start_server
echo 'ERROR first' > f
chmod 644 f
list=127.0.0.1:$PORT,127.1:$PORT,localhost:$PORT
screen 100 "'$(program_path dtail)' --cfg none --logLevel warn \
    --servers $list --user '$TEST_USER' --grep ERROR --since-start '$T/f'"
wait_until shows 'd=details\): *$'
assert_contains shown '^Encountered 3 unknown hosts: '
tm send-keys y Enter
three()
{
    tm capture-pane -p > shown
    [ "$(grep -cE '^REMOTE\|[^|]+\|100\|1\|f\|ERROR first$' shown)" -eq 3 ]
}
wait_until three
tm capture-pane -p -e > painted
# the host on blue, the match apart from the rest of the text
[ "$(grep -c $'\033.*44m.*ERROR\033.*first' painted)" -eq 3 ] ||
    fail "not painted: $(cat -v painted)"
tm send-keys C-c
wait_until shows 'Hit Ctrl.C again to exit'
wait_until shows 'Connection stats: connected=3\|servers=3\|connected%=100'
tm send-keys C-c
wait_until shows 'status 130$'
tm kill-server
stop_server
