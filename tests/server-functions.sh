# SPDX-License-Identifier: Apache-2.0
# Sourced after functions.sh by the tests that look at the server's processes
# through OpenSSH's client and through plain connections.

requires ssh pgrep

# What ssh is called with, but for key, port, user and command; nothing of the
# caller's own set-up.
SSH_OPTIONS=(-F none -o BatchMode=yes -o IdentitiesOnly=yes
    -o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null
    -o StrictHostKeyChecking=no -o LogLevel=ERROR)

# ssh_dtail USER KEY: a session of the subsystem; requests come from stdin.
ssh_dtail()
{
    timeout -k 10 "$LIMIT" ssh "${SSH_OPTIONS[@]}" -i "$2" -p "$PORT" \
        -l "$1" 127.0.0.1 -s dtail
}

# by_password USER PASSWORD: the same for the users who have one.
by_password()
{
    printf '#!/bin/sh\necho "$PASSWORD"\n' > "$T/askpass"
    chmod 700 "$T/askpass"
    PASSWORD=$2 SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force \
        timeout -k 10 "$LIMIT" ssh -o BatchMode=no "${SSH_OPTIONS[@]}" \
        -o NumberOfPasswordPrompts=1 -o PubkeyAuthentication=no \
        -p "$PORT" -l "$1" 127.0.0.1 -s dtail
}

# Only root may look at processes that keep themselves to themselves; under
# valgrind and sanitizers figures mean nothing.
can_measure_memory()
{
    [ "$(id -u)" -eq 0 ] && [ ${#wrapper[@]} -eq 0 ] &&
        grep -q '^S\["SANITIZER_FLAGS"\]=""' "$top_builddir/config.status"
}

# memory_kib PID: its memory, with its share of what processes have in common.
memory_kib()
{
    awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup"
}

# frame TYPE JSON: a request frame on stdout. JSON shorter than 64 KiB.
frame()
{
    local n=$((${#2} + 1))
    printf "\\0\\0\\x$(printf %02x $((n / 256)))\\x$(printf %02x $((n % 256)))"
    printf "\\x$(printf %02x "$1")%s" "$2"
}

# hello: what a client says first.
hello()
{
    frame 1 '{"protocol":1,"version":"test","host":"test"}'
}

# cat_request ID FILE [MEMBERS]: a query; MEMBERS such as '"last":true'.
cat_request()
{
    frame 2 "{\"id\":$1,\"plugin\":\"cat\",\"files\":[\"$2\"],\"plain\":true${3:+,$3}}"
}

# children NAME: the pids of the server's "session" or "worker" processes.
children()
{
    pgrep -P "$SERVER_PID" -x "dserver $1" || true
}

has_children() # NAME NUMBER
{
    [ "$(children "$1" | wc -l)" -eq "$2" ]
}

log_has() # EXTENDED-REGEX
{
    grep -aqE -e "$1" "$T/server.log"
}

# open_connection FD: a bare TCP connection under that number.
open_connection()
{
    eval "exec $1<>/dev/tcp/127.0.0.1/$PORT"
}

# read_to_end FD: everything until the other end closes.
read_to_end()
{
    timeout "$LIMIT" cat <&"$1"
}
