# SPDX-License-Identifier: Apache-2.0
# Matches are painted apart where lines are painted, also in lines whose control
# bytes are shown; a pipe gets the bytes of the file.
. ./functions.sh || exit 99
requires script
unset NO_COLOR
esc=$(printf '\033')
printf 'one bad\033 bad\nERROR bad\nfine\n' > f
chmod 644 f
plain="${esc}[37m${esc}[40m"
end="${esc}[49m${esc}[39m"
match="${esc}[31m${esc}[40m${esc}[1mbad${esc}[0m$end"
error="${esc}[37m${esc}[41m${esc}[1mERROR ${esc}[0m$end"

painted() # PROGRAM ARGUMENTS...: as on a terminal
{
    local words
    words=$(printf '%q ' "$(program_path "$1")" --cfg none "${WAY_ARGS[@]}" \
        "${@:2}")
    script -qefc "$words 2> err" /dev/null < /dev/null | tr -d '\r' > out
}

holds()
{
    grep -qF -- "$1" out || fail "not painted: $(cat -v out)"
}

lacks_match()
{
    ! grep -qF "${esc}[31m" out || fail "a match is shown: $(cat -v out)"
}

check()
{
    painted dgrep --grep bad "$T/f"
    holds "${plain}one $end$match$plain\\x1b $end$match"
    holds "$error$match"
    painted dgrep --grep 'B.[cd]' --ignore-case "$T/f"
    holds "$error$match"
    painted dgrep --and bad "$T/f"
    holds "$error$match"
    painted dgrep "$T/f"
    lacks_match
    painted dgrep --grep bad --invert "$T/f"
    holds "${plain}fine$end"
    lacks_match
    painted dgrep --grep bad --not bad "$T/f"
    lacks_match
    run_client dgrep --plain --grep bad "$T/f" > out
    grep bad f > want
    assert_same want out
    run_client dgrep --grep bad "$T/f" > out
    lacks_match
    start_client dtail --color=always --grep bad --since-start "$T/f"
    wait_until grep -qF "$error$match" client.out
    kill -TERM "$CLIENT_PID"
    wait_client
}
run_both_ways check
