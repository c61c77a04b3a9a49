# SPDX-License-Identifier: Apache-2.0
# Ten mistakes of somebody who uses it for the first time: each message says
# what is wrong and what to do about it.
. ./functions.sh || exit 99
requires_program drun dmap dgrep
requires_plugin cat grep mapr
requires ssh-keygen setsid
echo text > f
chmod 644 f
mkdir logs
chmod 755 logs
echo secret > secret
chmod 000 secret
start_server
args=(--user "$TEST_USER" --trustAllHosts --servers "127.0.0.1:$PORT")

# says STATUS REGEX COMMAND...
says()
{
    local status=$1 what=$2
    shift 2
    assert_status "$status" run_client "$@" > out 2> err < /dev/null
    assert_contains err "$what"
}

# 1 and 2: the wrong port, and a server that is down
says 1 'refused \(does dserver run there, at this port\? --port, HOST:PORT\)' \
    dcat "${args[@]}" --servers 127.0.0.1:1 "$T/f"
says 1 'look-up of no-such-host\.invalid: .*\(is the name right\?\)' \
    dcat "${args[@]}" --servers no-such-host.invalid "$T/f"
# 3: no key
mv "$HOME/.ssh/id_ed25519" key
says 2 'find private SSH key .*make one with ssh-keygen.*--auth-key-path' \
    dcat "${args[@]}" "$T/f"
ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id_ed25519"
says 1 "authentication failed for user $TEST_USER; tried: .*id_ed25519" \
    dcat "${args[@]}" "$T/f"
mv key "$HOME/.ssh/id_ed25519"
# 4 and 5: no such file, a glob without a match
says 0 'Unable to read file.*/none\|no such file' dcat "${args[@]}" "$T/none"
says 0 'logs/\*\.log\|no file of this host matches' \
    dcat "${args[@]}" "$T/logs/*.log"
# 6: a typo in a flag
says 2 '^Did you mean -plain\?$' dcat --plian "$T/f"
says 2 '^Did you mean -trustAllHosts\?$' dcat --trust-all-hosts "$T/f"
says 2 '^flag provided but not defined: -xyzzy$' dcat --xyzzy "$T/f"
assert_lacks err 'Did you mean'
# 7: an unknown plugin
says 1 'no command "grpe" here; there are: .*grep' \
    drun "${args[@]}" grpe --files "$T/f"
# 8: a bad query, a bad pattern
says 2 'Unknown aggregation .*cnt' dmap "${args[@]}" --query 'select cnt(x)' "$T/f"
assert_contains err '\^ here \(byte 8\)'
says 2 'pattern "a\(": ' dgrep "${args[@]}" --grep 'a(' "$T/f"
# 9: no permission
says 0 "secret\|permission denied, for a reason that the server's log has" \
    dcat "${args[@]}" "$T/secret"
assert_contains server.log 'secret'
# 10: an old host key
read -r type key _ < "$HOME/.ssh/id_ed25519.pub"
echo "[127.0.0.1]:$PORT $type $key" > "$HOME/.ssh/known_hosts"
says 1 "HOST KEY HAS CHANGED\. $HOME/.ssh/known_hosts line 1 .*remove that line" \
    dcat "${args[@]}" "$T/f"
stop_server
