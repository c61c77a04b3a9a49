# SPDX-License-Identifier: Apache-2.0
# Rotation by rename: the old file to its end, the new one from its first byte,
# each line once and in order. Trouble cases 1 to 3, 6.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"

# The writer keeps writing into the renamed file before it opens the new one,
# which is at once larger than the old.
renamed()
{
    rm -f log log.*
    followed "$T/log"
    exec 7>> log
    count 1 5 >&7
    mv log log.1
    count 6 9 >&7
    count 10 500 > log
    exec 7>> log
    chmod 644 log
    count 501 510 >&7
    exec 7>&-
    (echo begin; count 1 510) > want
    ends_with "$(count 510 510)"
}

# Three rotations between two looks.
thrice()
{
    local i
    rm -f log log.*
    followed "$T/log"
    for i in 1 2 3; do
        count $((i * 100)) $((i * 100 + 99)) >> log
        [ ! -e log.2 ] || mv log.2 log.3
        [ ! -e log.1 ] || mv log.1 log.2
        mv log log.1
        : > log
        chmod 644 log
    done
    count 400 409 >> log
    (echo begin; count 100 409) > want
    ends_with "$(count 409 409)"
}

switched()
{
    rm -f log link a b
    printf 'begin\n' > a
    chmod 644 a
    ln -s a link
    follow --lines 1 "$T/link"
    wait_until has_lines 1
    count 1 3 >> a
    count 4 100 > b
    chmod 644 b
    ln -s b link.new
    mv -T link.new link
    (echo begin; count 1 100) > want
    wait_until has_line "$(count 100 100)"
    count 101 102 >> b
    count 101 102 >> want
    ends_with "$(count 102 102)"
}

deleted()
{
    rm -f log
    followed "$T/log"
    count 1 3 >> log
    wait_until has_line "$(count 3 3)"
    rm log
    count 4 50 > log.new
    chmod 644 log.new
    mv log.new log
    (echo begin; count 1 50) > want
    ends_with "$(count 50 50)"
}

folder()
{
    rm -rf folder folder.old
    mkdir folder
    chmod 755 folder
    followed "$T/folder/log"
    count 1 3 >> folder/log
    wait_until has_line "$(count 3 3)"
    rm -r folder
    mkdir folder
    chmod 755 folder
    count 4 6 > folder/log
    chmod 644 folder/log
    wait_until has_line "$(count 6 6)"
    # moved away while it is written to
    exec 7>> folder/log
    mv folder folder.old
    count 7 8 >&7
    exec 7>&-
    mkdir folder
    chmod 755 folder
    count 9 12 > folder/log
    chmod 644 folder/log
    (echo begin; count 1 12) > want
    ends_with "$(count 12 12)"
}

# What is written while the client comes up: a gap nowhere, from the first line
# that it shows.
at_start()
{
    local stop=$T/stop writer first
    rm -f log "$stop"
    count 1 100 > log
    chmod 644 log
    (
        i=101
        until [ -e "$stop" ]; do
            count $i $((i + 9)) >> log
            i=$((i + 10))
        done
    ) &
    writer=$!
    follow "$T/log"
    wait_until has_lines 100
    touch "$stop"
    wait $writer
    wait_until has_line "$(tail -n 1 log)"
    unfollow
    first=$(head -n 1 client.out | cut -d ' ' -f 1)
    sed "1,$((first - 1))d" log > want
    # it may have begun in the middle of a line
    grep -qx '[0-9]* of a counter that is written' <(head -n 1 client.out) ||
        sed -i 1d want client.out
    assert_same want client.out
}

check()
{
    renamed
    thrice
    switched
    deleted
    folder
    at_start
}
run_both_ways check
