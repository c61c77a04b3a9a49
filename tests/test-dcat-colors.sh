# SPDX-License-Identifier: Apache-2.0
# Colours: on a terminal and with --color=always; else a pipe gets none, and
# --noColor, --plain, NO_COLOR, --color=never and the settings turn them off.
. ./functions.sh || exit 99
requires script
unset NO_COLOR
printf 'hi\nERROR x\n' > f
chmod 644 f
esc=$(printf '\033')
text="${esc}[37m${esc}[40mhi${esc}[49m${esc}[39m"
error="${esc}[37m${esc}[41m${esc}[1mERROR x${esc}[0m${esc}[49m${esc}[39m"

on_terminal() # ARGUMENTS...
{
    local words
    words=$(printf '%q ' "$(program_path dcat)" "${WAY_ARGS[@]}" "$@" "$T/f")
    script -qefc "$words 2> err" /dev/null < /dev/null | tr -d '\r' > out
}

is_painted()
{
    grep -qF "$text" out && grep -qF "$error" out ||
        fail "not painted: $(cat -v out)"
}

is_bare()
{
    [ "$(wc -l < out)" -eq 2 ] || fail "not two lines: $(cat -v out)"
    ! grep -q "$esc" out || fail "painted: $(cat -v out)"
}

check()
{
    run_client dcat "$T/f" > out
    is_bare
    run_client dcat --color=always "$T/f" > out
    is_painted
    run_client dcat --color=always --noColor "$T/f" > out
    is_bare
    run_client dcat --color=always --plain "$T/f" > out
    is_bare
    on_terminal --cfg none
    is_painted
    on_terminal --cfg none --color=never
    is_bare
    NO_COLOR=1 on_terminal --cfg none
    is_bare
    NO_COLOR=1 on_terminal --cfg none --color=always
    is_painted
}
run_both_ways check

WAY_ARGS=()
echo '{"Client": {"TermColorsEnable": false}}' > off.json
on_terminal --cfg "$T/off.json"
is_bare
echo '{"Client": {"TermColors": {"Remote": {"TextFg": "Green"}}}}' > green.json
on_terminal --cfg "$T/green.json"
grep -qF "${esc}[32m${esc}[40mhi" out || fail "not green: $(cat -v out)"
echo '{"Client": {"TermColors": {"Remote": {"TextFg": "Grün"}}}}' > wrong.json
on_terminal --cfg "$T/wrong.json"
is_painted
assert_contains err 'Client.TermColors.Remote.TextFg'
assert_status 2 run_client dcat --color=sometimes f
