# SPDX-License-Identifier: Apache-2.0
# Files that shrink, holes of NUL bytes, lines without their end. Trouble cases
# 4, 5 and 8.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"

# The copy has what was written just before: nothing is lost, nothing is said.
copytruncate()
{
    rm -f log log.*
    followed "$T/log"
    count 1 500 >> log
    cp log log.1
    chmod 644 log.1
    : > log
    count 501 503 >> log
    (echo begin; count 1 503) > want
    ends_with "$(count 503 503)"
    assert_lacks client.err truncated
}

# Without a copy: it is said, and the new contents come from the first byte,
# also when there are soon more of them than before.
truncated()
{
    rm -f log log.*
    followed "$T/log"
    count 1 5 >> log
    wait_until has_line "$(count 5 5)"
    : > log
    count 6 8 >> log
    wait_until has_line "$(count 8 8)"
    assert_contains client.err "$T/log was truncated"
    count 9 1000 > log
    (echo begin; count 1 1000) > want
    ends_with "$(count 1000 1000)"
}

# A writer that does not append goes on at its old offset.
hole()
{
    rm -f log log.*
    followed "$T/log"
    exec 7<> log
    echo begin >&7
    count 1 5 >&7
    wait_until has_line "$(count 5 5)"
    cp log log.1
    chmod 644 log.1
    truncate -s 0 log
    count 6 8 >&7
    wait_until has_line "$(count 8 8)"
    # a large one, which costs nothing
    truncate -s 1G log
    exec 7>> log
    count 9 10 >&7
    exec 7>&-
    (echo begin; count 1 10) > want
    ends_with "$(count 10 10)"
    assert_contains client.err 'NUL bytes at byte [0-9]+ passed over'
}

# A rest without newline waits for it, as long as nothing follows the file.
rest()
{
    rm -f log log.* other
    followed "$T/log" "$T/other"
    printf 'par' >> log
    echo 1 >> other
    wait_until has_line 1
    printf 'tia' >> log
    echo 2 >> other
    wait_until has_line 2
    printf 'l\n\nrest' >> log
    wait_until has_line partial
    assert_lacks client.out rest
    # the empty line counts; the next file ends the rest
    mv log log.1
    echo next > log
    chmod 644 log
    wait_until has_line next
    printf 'begin\nbegin\n1\n2\npartial\n\nrest\nnext\n' > want
    ends_with next
}

check()
{
    copytruncate
    truncated
    hole
    rest
}
run_both_ways check
