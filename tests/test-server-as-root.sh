# SPDX-License-Identifier: Apache-2.0
# Started as root: session processes are nobody's, workers their users', with
# no way back; root is refused; the kernel decides what may be read.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires_plugin cat
requires_root daemon

SERVER_AS_ROOT=yes
TEST_USER=daemon
ADD_SERVER='"JobUser": "daemon", "Schedule": [{"Name": "job", "Enable": true,
  "AllowOnly": true, "Files": "'$T'/secret,'$T'/open",
  "AllowFrom": ["127.0.0.1"]}]'
start_server
allow_key "$HOME/.ssh/id_ed25519.pub" root
key=$HOME/.ssh/id_ed25519
mkfifo requests
ssh_dtail daemon "$key" < requests > out &
client=$!
exec 7> requests
# Its HELLO is the sign that the worker has its rights.
wait_until grep -aq '"protocol":1' out

ids() # PID: real, effective, saved and file system uid, gid, NoNewPrivs
{
    awk '/^Uid:|^Gid:/ { print $2, $3, $4, $5 } /^NoNewPrivs:/ { print $2 }' \
        "/proc/$1/status" | tr '\n' ' '
}
one() # UID GID: what ids must say
{
    echo "$1 $1 $1 $1 $2 $2 $2 $2 1 "
}
assert_eq 'rights of the session' "$(one "$(id -u nobody)" "$(id -g nobody)")" \
    "$(ids "$(children session)")"
assert_eq 'rights of the worker' "$(one "$(id -u daemon)" "$(id -g daemon)")" \
    "$(ids "$(children worker)")"
assert_eq 'groups of the session' '' \
    "$(awk '/^Groups:/ { print $2 }' "/proc/$(children session)/status")"
# The session has an empty root folder, in which nothing can be made.
assert_eq 'root folder of the session' '' \
    "$(ls -A "/proc/$(children session)/root/" 2> /dev/null || true)"
! touch "/proc/$(children session)/root/x" 2> /dev/null ||
    fail "a file was made in the session's root folder"
assert_eq 'root folder of the worker' "$(stat -c %d:%i /)" \
    "$(stat -L -c %d:%i "/proc/$(children worker)/root/")"
assert_eq 'empty folders left' '' \
    "$(ls -d /run/dserver-empty.* /tmp/dserver-empty.* 2> /dev/null || true)"

# Nothing of the listener or of siblings is open but stdio, the connection,
# the sockets between them.
[ -n "${DTAIL_TEST_WRAPPER:-}" ] || assert_eq 'files of the worker' '' \
    "$(ls -l "/proc/$(children worker)/fd" | sed -n 's/.*-> //p' |
        grep -vE "^(socket|anon_inode|/dev/|pipe|$T/server.log)" || true)"

echo secret > secret
chmod 600 secret
echo open > open
chmod 644 open
(hello && cat_request 1 "$T/secret" && cat_request 2 "$T/open" '"last":true') >&7
exec 7>&-
wait "$client"
assert_contains out '^open$|open'
assert_lacks out 'secret$'

# The health check has no more rights than a session, a job those of JobUser.
mkfifo special
worker_of() # USER PASSWORD [FILE...]
{
    by_password "$1" "$2" < special > out &
    client=$!
    exec 7> special
    wait_until grep -aq '"protocol":1' out
    ids "$(children worker)"
}
close_worker()
{
    exec 7>&-
    wait "$client"
    wait_until has_children worker 0
}
worker_of DTAIL-HEALTH DTAIL-HEALTH > rights
assert_eq 'rights of the health check' \
    "$(one "$(id -u nobody)" "$(id -g nobody)")" "$(cat rights)"
close_worker
worker_of DTAIL-SCHEDULE job > rights
assert_eq 'rights of a job' "$(one "$(id -u daemon)" "$(id -g daemon)")" \
    "$(cat rights)"
(hello && cat_request 1 "$T/secret" && cat_request 2 "$T/open" '"last":true') >&7
close_worker
assert_contains out '^open$|open'
assert_lacks out 'secret$'

assert_status 255 ssh_dtail root "$key" < /dev/null > out 2> err
wait_until log_has 'root may not log in'
stop_server
