# SPDX-License-Identifier: Apache-2.0
# A name that holds a newline makes no line of its own: not in a client's
# notes, not in the server's log, whatever the note is about.
. ./functions.sh || exit 99
requires_program dcat dgrep dserver
requires_plugin cat grep

evil=$'x\nINFO|FORGED|line\nCLIENT|FORGED|line'
mkdir "$evil" "$T/$evil-folder"
printf 'text\n' > "$T/$evil.log"
printf '\037\213\010\0broken' > "$T/$evil.gz"
printf 'secret\n' > "$T/$evil.secret"
chmod 644 "$T/$evil.log" "$T/$evil.gz"
chmod 0 "$T/$evil.secret"

try_names()
{
    local name log
    for name in "$evil-missing" "$evil-folder" "$evil.gz" "$evil.secret" \
        "$evil.log/no-folder" "$evil-[" "$evil.log"; do
        run_client dcat "$@" "$T/$name" > out 2> err < /dev/null || true
        run_client dgrep "$@" --regex text "$T/$name" >> out 2>> err \
            < /dev/null || true
        for log in out err server.log; do
            [ ! -e "$log" ] || assert_lacks "$log" '^(INFO|CLIENT)\|FORGED'
        done
        # its name was told, beside its content or why there is none
        cat out err > said
        assert_contains said 'x.{1,4}INFO\|FORGED\|line.{1,4}CLIENT'
    done
}

run_both_ways try_names
