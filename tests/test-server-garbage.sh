# SPDX-License-Identifier: Apache-2.0
# What is not SSH ends its own connection, soon and not by the grace time, and
# nothing else: others go on, no process is left.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

ADD_SERVER='"LoginGraceMs": 3600000'
start_server
trap '' PIPE

throw() # BYTES from stdin
{
    : > server.log
    open_connection 4
    # what is not taken must be read, or the maker of the garbage fails
    cat >&4 2> /dev/null || cat > /dev/null
    read_to_end 4 > answer 2> /dev/null || true
    exec 4>&-
    wait_until log_has 'before the session began'
    wait_until has_children session 0
}

printf 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' | throw
head -c 100000 /dev/zero | tr '\0' x | throw
genlog log 2000 | throw
printf 'SSH-2.0-x\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff' | throw
printf 'SSH-2.0-x\r\n\0\0\0\1\0%032d' 0 | throw
printf 'SSH-1.5-old\r\n' | throw
ssh_dtail "$TEST_USER" "$HOME/.ssh/id_ed25519" < /dev/null > out
assert_contains out '"protocol":1'
stop_server
