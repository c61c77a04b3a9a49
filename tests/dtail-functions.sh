# SPDX-License-Identifier: Apache-2.0
# Sourced behind functions.sh by the tests of following.
#
# A followed file holds one line, "begin", that the client shows first
# (--lines 1): when it is there, the client follows.

. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dtail
requires_plugin tail

# follow ARGUMENTS...: dtail in the background, $T/client.out and client.err.
follow()
{
    : > client.out # the background opens it later
    start_client dtail --plain --shutdownAfter "$LIMIT" "$@"
}

# followed FILE...: begins each file, and follows them from there.
followed()
{
    local file
    for file; do
        echo begin > "$file"
        chmod 644 "$file"
    done
    follow --lines 1 "$@"
    wait_until has_lines $#
}

has_lines() # NUMBER
{
    [ "$(wc -l < client.out)" -ge "$1" ]
}

has_line() # TEXT
{
    grep -aqxF -e "$1" client.out
}

# unfollow: SIGTERM ends it with status 0, and nothing is left at the server.
unfollow()
{
    kill -TERM "$CLIENT_PID"
    wait_client || fail "dtail ended with status $? at SIGTERM"
    nothing_at_server
}

nothing_at_server()
{
    case $WAY in ssh-*)
        wait_until has_children worker 0
        wait_until has_children session 0
        ;;
    esac
}

# ends_with LINE: waits for the line, ends the client, and compares all that
# it wrote with $T/want.
ends_with()
{
    wait_until has_line "$1"
    unfollow
    assert_same want client.out
}

# count FROM TO: lines "N some text".
count()
{
    seq -f '%.0f of a counter that is written' "$1" "$2"
}
