# SPDX-License-Identifier: Apache-2.0
# The users with a password: health and jobs get in with theirs and from where
# they may, with no key, and do no more than they are there for; others have
# no password.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires_plugin cat

echo 'line of the job' > job.log
echo 'line of another' > other.log
chmod 644 job.log other.log
ADD_SERVER='"Schedule": [
  {"Name": "nightly", "Enable": true, "AllowOnly": true,
   "Files": "'$T'/job.log", "AllowFrom": ["127.0.0.1"]},
  {"Name": "off", "Enable": false, "Files": "'$T'/job.log",
   "AllowFrom": ["127.0.0.1"]},
  {"Name": "elsewhere", "Enable": true, "AllowOnly": true,
   "Files": "'$T'/job.log", "AllowFrom": ["192.0.2.0/24"]}],
 "Continuous": [
  {"Name": "flow", "Enable": true, "AllowOnly": true, "Password": "hush",
   "Files": "'$T'/job.log", "AllowFrom": ["localhost"]}],
 "Permissions": {"Default": ["!.*"]}'
start_server
allow_key "$HOME/.ssh/id_ed25519.pub" DTAIL-SCHEDULE

requests()
{
    hello
    cat_request 1 "$T/job.log"
    cat_request 2 "$T/other.log" '"last":true'
}
denied() # LOG-REGEX USER PASSWORD
{
    local status=0
    : > "$T/server.log"
    by_password "$2" "$3" < /dev/null > out 2> err || status=$?
    [ "$status" -eq 255 ] ||
        fail "$2 with $3: status $status"
    wait_until log_has "$1"
    assert_lacks "$T/server.log" 'logged in'
}

for user in DTAIL-SCHEDULE:nightly DTAIL-CONTINUOUS:hush; do
    requests | by_password "${user%:*}" "${user#*:}" > out
    assert_contains out 'line of the job'
    assert_lacks out 'line of another'
    assert_contains out 'other.log is not among the files of job'
done
requests | by_password DTAIL-HEALTH DTAIL-HEALTH > out
assert_contains out '"protocol":1'
assert_contains out 'the health user may not run queries'
assert_lacks out 'line of'

denied 'no job that is enabled' DTAIL-SCHEDULE off
denied 'no job that is enabled' DTAIL-SCHEDULE hush
denied 'no job that is enabled' DTAIL-CONTINUOUS flow
denied 'no job that is enabled' DTAIL-SCHEDULE ''
denied 'AllowFrom of job elsewhere lacks 127.0.0.1' DTAIL-SCHEDULE elsewhere
denied 'wrong password' DTAIL-HEALTH nightly

# No key, be it listed; and nobody else has a password to be asked for.
: > "$T/server.log"
assert_status 255 ssh_dtail DTAIL-SCHEDULE "$HOME/.ssh/id_ed25519" \
    < /dev/null > out 2> err
assert_contains err 'Permission denied \(password\)'
assert_status 255 ssh_dtail "$TEST_USER" /nonexistent < /dev/null > out 2> err
assert_contains err 'Permission denied \(publickey\)'
stop_server
