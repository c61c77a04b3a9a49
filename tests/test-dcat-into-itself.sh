# SPDX-License-Identifier: Apache-2.0
# A glob that finds the file that the output goes to: it is left out and told,
# or it would grow until the disk is full.
. ./functions.sh || exit 99
requires_plugin grep tail

genlog log 2000 > log
printf 'ERROR of another run\n' > all
cp all was-there

check()
{
    cat was-there log > want
    cp was-there all
    run_client dcat --plain --turbo="$1" log all >> all 2> err
    assert_same want all
    assert_contains err '\|all\|all: is the output as well$'

    # found by a glob, read through a symbolic link, and as standard input
    ln -sf all link
    cp was-there all
    { cat was-there; grep ERROR log; } > want
    run_client dgrep --plain --turbo="$1" --grep ERROR '[al][lio][lgn]*' \
        >> all 2> err
    assert_same want all
    assert_contains err '\|all: is the output as well$'
    assert_contains err '\|link: is the output as well$'
    cp was-there all
    run_client dcat --plain --turbo="$1" < all >> all 2> err
    assert_same was-there all
    assert_contains err 'is the output as well$'
    assert_status 1 run_client dcat --strict --plain --turbo="$1" all \
        >> all 2> err
}
check yes
check no

# Followed: what is appended to another file comes once.
follow()
{
    cp was-there all
    genlog log 20 > log
    "${wrapper[@]}" "$(program_path dtail)" --cfg none --plain --since-start \
        --turbo="$1" --shutdownAfter "$LIMIT" log all >> all 2> err &
    client=$!
    cleanup_fn kill_quietly $client
    wait_until same_size was-there log all
    echo appended >> log
    wait_until same_size was-there log all
    wait_until grep -q 'all: is the output as well$' err
    kill -TERM $client
    wait_client $client || fail "dtail: $?"
    cat was-there log > want
    assert_same want all
}

same_size() # FILE FILE SUM
{
    [ "$(cat "$1" "$2" | wc -c)" -eq "$(wc -c < "$3")" ]
}

follow yes
follow no
