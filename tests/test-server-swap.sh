# SPDX-License-Identifier: Apache-2.0
# An attacker who swaps links, folders and files under the eyes of the server,
# as fast as it goes, gets what he may read and nothing else: the decision is
# about what was opened. Forbidden by a rule, and by mode bits.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dtail
requires_plugin cat tail
requires python3

ROUNDS=${TEST_EFFORT:-1}
mkdir good bad play
echo 'open to all' > good/log
echo 'the secret' > bad/log
chmod 644 good/log bad/log
ADD_SERVER='"MaxConcurrentCats": 2, "MaxQueries": 1000, "Permissions": {"Default": ["!/bad/", "^'$T'/"]}'
start_server
users=("$TEST_USER")
if [ "$(id -u)" -eq 0 ] && id daemon > /dev/null 2>&1; then
    # The server can read this one, who logs in cannot.
    mkdir secret
    echo 'the secret' > secret/log
    chown "$TEST_USER:" secret secret/log
    chmod 600 secret/log
    allow_key "$HOME/.ssh/id_ed25519.pub" daemon
    users+=(daemon)
fi

# play/link: a link to the file; play/dir: a link to the folder; play/real: a
# real folder that changes places with another.
cat > attack.py <<'END'
import ctypes, os, sys
goal = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
def exchange(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2) != 0:
        sys.exit('renameat2: ' + os.strerror(ctypes.get_errno()))
def link(target, name):
    if os.path.lexists(name):
        os.unlink(name)
    os.symlink(target, name)
os.chdir('play')
for name, target in (('link', 'log'), ('dir', '')):
    link('../good/' + target, name)
    link('../' + goal + '/' + target, name + '2')
# hard links, so that names differ and files do not
os.makedirs('real', exist_ok=True)
os.makedirs(goal, exist_ok=True)
for folder, source in (('real', '../good/log'), (goal, '../' + goal + '/log')):
    if not os.path.exists(folder + '/log'):
        os.link(source, folder + '/log')
open('../ready', 'w').close()
while True:
    exchange('link', 'link2')
    exchange('dir', 'dir2')
    if goal != 'bad':
        exchange('real', goal)
END

paths=(link dir/log real/log)
requests() # NUMBER
{
    local i
    hello
    for ((i = 1; i <= $1; i++)); do
        cat_request "$i" "$T/play/${paths[i % 3]}"
    done
}
for user in "${users[@]}"; do
    goal=bad
    [ "$user" = "$TEST_USER" ] || goal=secret
    rm -f ready
    python3 attack.py "$goal" &
    attacker=$!
    cleanup_fn kill_quietly "$attacker"
    wait_until test -e ready
    for ((round = 0; round < ROUNDS * 3; round++)); do
        requests 300 | ssh_dtail "$user" "$HOME/.ssh/id_ed25519" > out
        assert_lacks out 'the secret'
        # The attack was going on: both happened.
        assert_contains out 'open to all'
        assert_eq 'answers' 300 "$(grep -ao '"status":' out | wc -l)"
    done
    wait_until log_has 'forbid'
    kill_quietly "$attacker" || true
done

# The same while following: each new file behind the link is judged anew.
python3 attack.py bad &
attacker=$!
cleanup_fn kill_quietly "$attacker"
start_client dtail "${SSH_ARGS[@]}" --plain "$T/play/link" "$T/play/dir/log"
for ((i = 0; i < 200; i++)); do
    echo "open line $i" >> good/log
    echo "secret line $i" >> bad/log
done
seen()
{
    echo 'open line' >> good/log
    echo 'secret line' >> bad/log
    grep -q 'open line' client.out
}
wait_until seen
kill_quietly "$attacker" || true
kill -TERM "$CLIENT_PID"
wait_client || true
assert_lacks client.out 'secret'
stop_server
