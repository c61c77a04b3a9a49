# SPDX-License-Identifier: Apache-2.0
# After a broken connection --max goes on counting, trailing context that is
# due comes, and leading context is not shown twice.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"

# cut LINES...: ends the session; they are written before the next one begins.
cut()
{
    kill -STOP "$SERVER_PID"
    # shellcheck disable=SC2046
    kill -KILL $(children session)
    printf '%s\n' "$@" >> log
    kill -CONT "$SERVER_PID"
}

begun() # ARGUMENTS...
{
    echo begin > log
    chmod 644 log
    follow --since-start "$@" "$T/log"
    wait_until has_line begin
}

after()
{
    begun --grep 'begin|hit' --before 2 --after 3
    echo a1 >> log
    wait_until has_line a1
    cut a2 a3 x
    wait_until has_line a3
    cut y z hit
    wait_until has_line hit
    printf '%s\n' begin a1 a2 a3 y z hit > want
    ends_with hit
}

# Lines that are held back as leading context come once, whole; also when so
# much without a hit stands before them that the place moves on without lines.
before()
{
    local last=15000
    begun --grep 'begin|hit|ready' --before 2
    seq "$last" >> log
    printf '%s\n' one ready >> log
    wait_until has_line ready
    seq "$last" >> log
    cut two hit three
    wait_until has_line hit
    printf '%s\n' begin $last one ready $last two hit > want
    ends_with hit
}

max()
{
    begun --grep 'begin|hit' --max 3
    cut hit1
    wait_until has_line hit1
    cut x hit2 hit3
    wait_client || fail "status $? at its end"
    printf '%s\n' begin hit1 hit2 > want
    assert_same want client.out
    nothing_at_server
    # over before the connection broke, while another file goes on
    echo more > other
    chmod 644 other
    begun --grep 'begin|hit|more' --max 2 "$T/other"
    wait_until has_line more
    echo hit >> log
    wait_until has_line hit
    cut hit3
    echo more2 >> other
    wait_client || fail "status $? at its end"
    assert_lacks client.out hit3
    assert_contains client.out more2
    rm other
}

start_server
for way in ssh-turbo ssh-normal; do
    set_way $way
    after
    before
    max
done
stop_server
