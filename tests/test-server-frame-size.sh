# SPDX-License-Identifier: Apache-2.0
# Server.MaxCommandFrameSize: a request of more bytes ends the session with an
# error that names the setting, one of as many is served.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires python3
requires_program dserver

# sized_request LENGTH: a query whose frame has that length behind its length
# field.
sized_request()
{
    local head='{"id":1,"plugin":"absent","last":true,"pad":"' tail='"}'
    local pad=$(($1 - 1 - ${#head} - ${#tail}))
    python3 -c 'import struct, sys
text = (sys.argv[1] + "x" * int(sys.argv[3]) + sys.argv[2]).encode()
sys.stdout.buffer.write(struct.pack(">IB", len(text) + 1, 2) + text)' \
        "$head" "$tail" "$pad"
}

check_sizes() # ALLOWED
{
    (hello && sized_request "$1") > requests
    ssh_dtail "$TEST_USER" "$key" < requests > out
    assert_contains out 'no command .*absent'
    (hello && sized_request $(($1 + 1))) > requests
    ssh_dtail "$TEST_USER" "$key" < requests > out || true
    assert_contains out \
        "longer than the $1 bytes that Server.MaxCommandFrameSize allows"
    assert_lacks out 'no command'
}

key=$HOME/.ssh/id_ed25519
start_server
check_sizes 1048576
stop_server
for size in 1024 3000000; do
    ADD_SERVER="\"MaxCommandFrameSize\": $size"
    start_server
    check_sizes $size
    stop_server
done
