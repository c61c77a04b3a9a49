# SPDX-License-Identifier: Apache-2.0
# ssh_config: an alias with address, port, user, key and known hosts of its own
# reaches a real server, also through a ProxyCommand; what is on the command
# line wins; what cannot be honoured is an error with file and line.
. ./functions.sh || exit 99
requires ssh-keygen python3 pgrep
genlog log 1000 > log
chmod 644 log
start_server
make_key other
mv "$HOME/.ssh/id_ed25519" "$T/key"
mv "$HOME/.ssh/id_ed25519.pub" "$T/key.pub"
rm "$HOME/.ssh/other" "$HOME/.ssh/other.pub"
known=$T/hosts

cat > "$HOME/.ssh/config" << END
Host web bad-key
    HostName 127.0.0.1
    Port $PORT
    User $TEST_USER
    UserKnownHostsFile $known
    ConnectTimeout 5
Host web
    IdentityFile $T/key
Host bad-key
    IdentityFile $T/none
Host odd
    RevokedHostKeys /x
Host proxied
    HostName 127.0.0.1
    Port $PORT
    User $TEST_USER
    UserKnownHostsFile $known
    IdentityFile $T/key
    ProxyCommand exec python3 -u $T/pipe.py %h %p
Host no-proxy
    User $TEST_USER
    IdentityFile $T/key
    ProxyCommand exit 3
END
cat > pipe.py << 'END'
# Copies both ways between standard input and output and a connection.
import os, selectors, socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
open("proxied", "w").write(sys.argv[1])
way = {0: s.fileno(), s.fileno(): 1}
while True:
    sel = selectors.DefaultSelector()
    for fd in way:
        sel.register(fd, selectors.EVENT_READ)
    for key, _ in sel.select():
        data = os.read(key.fd, 65536)
        if not data:
            sys.exit(0)
        while data:
            data = data[os.write(way[key.fd], data):]
END

dcat()
{
    run_client dcat --plain --no-auth-key "$@" "$T/log" 2> err < /dev/null
}

# The alias, which knows all; its key is stored where it says.
dcat --servers web --trustAllHosts > out
assert_same log out
assert_contains "$known" "^\[127\.0\.0\.1\]:$PORT ssh-ed25519 "
[ ! -e "$HOME/.ssh/known_hosts" ] || fail "stored in the usual file as well"
dcat --servers web > out
assert_same log out

# What is given wins over the file, and the default port does not.
assert_status 1 dcat --servers web --user nobody-else > out
assert_contains err 'for user nobody-else'
assert_status 1 dcat --servers web:1 > out
assert_contains err '\|web:1\|failed to dial TCP connection to 127\.0\.0\.1:1:'
assert_status 1 dcat --servers web --port 1 > out
assert_contains err '127\.0\.0\.1:1:'

# A proxy: nothing is left of it.
dcat --servers proxied > out
assert_same log out
assert_eq "proxied" 127.0.0.1 "$(cat proxied)"
dcat --servers web,proxied > out
assert_eq "both" 2000 "$(wc -l < out)"
! pgrep -f "$T/pipe.py" || fail "a proxy is left"
assert_status 1 dcat --servers no-proxy > out
assert_contains err 'ERROR\|no-proxy\|SSH handshake failed.* through .exit 3.'

# Other files, and none.
assert_status 2 dcat --servers web --ssh-config none > out
assert_contains err 'Unable to find private SSH key'
assert_status 2 dcat --servers web --ssh-config "$T/no-such-file" > out
assert_contains err 'no-such-file: No such file'
sed 's/^Host web$/Host other/; s/^Host web bad-key/Host other bad-key/' \
    "$HOME/.ssh/config" > second
dcat --servers other --ssh-config second > out
assert_same log out

# Errors.
assert_status 2 dcat --servers odd > out
assert_contains err "odd: $HOME/.ssh/config line 12: RevokedHostKeys: "
assert_status 2 dcat --servers bad-key > out
assert_contains err "$T/none does not exist"
chmod 666 "$HOME/.ssh/config"
dcat --servers web > out && fail "took a file that others may write"
assert_contains err 'others may write'
stop_server
