# SPDX-License-Identifier: Apache-2.0
# Control bytes of lines are shown on a terminal and sent as they are into a
# pipe; --raw and --escape say otherwise.
. ./functions.sh || exit 99
requires script
printf 'tab\tred \033[31m bell \007 euro \342\202\254 cr\r\n' > f
chmod 644 f
shown='tab\tred \\x1b[31m bell \\x07 euro \342\202\254 cr'

on_terminal() # ARGUMENTS...
{
    local words
    words=$(printf '%q ' "$(program_path dcat)" --cfg none "${WAY_ARGS[@]}" \
        --plain "$@" "$T/f")
    script -qefc "$words 2> err" /dev/null < /dev/null | tr -d '\r' > out
}

check()
{
    on_terminal
    printf "$shown\n" > want
    assert_same want out
    on_terminal --raw
    tr -d '\r' < f > want
    assert_same want out
    run_client dcat --plain "$T/f" > out
    assert_same f out
    run_client dcat --plain --escape "$T/f" > out
    printf "$shown\r\n" > want
    assert_same want out
}
run_both_ways check
