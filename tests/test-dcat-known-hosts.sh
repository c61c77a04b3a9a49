# SPDX-License-Identifier: Apache-2.0
# Host keys: an unknown one fails at once without a terminal and is stored with
# --trustAllHosts; a changed or revoked one is an error that names the line,
# whatever the flags say; hashed lines and hosts known by another type work.
. ./functions.sh || exit 99
requires ssh-keygen
echo text > f
chmod 644 f
start_server
known=$HOME/.ssh/known_hosts
args=(--servers "127.0.0.1:$PORT" --user "$TEST_USER" --plain)

dcat()
{
    run_client dcat "${args[@]}" "$@" "$T/f" > out 2> err < /dev/null
}

# No terminal: setsid takes the controlling one away.
no_terminal()
{
    setsid -w "$(program_path dcat)" --cfg none "${args[@]}" "$T/f" \
        > out 2> err < /dev/null
}
assert_status 1 no_terminal
assert_contains err 'not known and there is no terminal'
[ ! -e "$known" ] || fail "something was stored"

dcat --trustAllHosts
assert_eq "first contact" text "$(cat out)"
assert_contains "$known" "^\[127\.0\.0\.1\]:$PORT ssh-ed25519 "
assert_eq "mode" 600 "$(stat -c %a "$known")"
dcat
assert_eq "second contact" text "$(cat out)"
assert_eq "lines" 1 "$(wc -l < "$known")"

# ssh-keygen finds it, and what ssh-keygen hashed is found.
ssh-keygen -F "[127.0.0.1]:$PORT" -f "$known" > /dev/null ||
    fail "ssh-keygen does not find the line"
ssh-keygen -H -f "$known" > /dev/null 2>&1
assert_contains "$known" '^\|1\|'
dcat
assert_eq "hashed" text "$(cat out)"

# Known by its RSA key only: that one is asked for.
read -r type key _ < <(ssh-keygen -y -f "$T/server/cache/ssh_host_key")
echo "[127.0.0.1]:$PORT $type $key" > "$known"
dcat
assert_eq "known by RSA" text "$(cat out)"

# The same among more hashed lines than are looked at beforehand: the client
# connects again and asks for that type.
awk 'BEGIN {
    for (i = 0; i < 100001; i++)
        printf "|1|%027d=|%027d= ssh-ed25519 AAAA%d\n", i, i, i
}' > many
ssh-keygen -q -H -f "$known" > /dev/null 2>&1
cat many >> "$known"
dcat
assert_eq "known by RSA, among many" text "$(cat out)"

# Changed: never accepted, also not with --trustAllHosts.
make_key other
read -r type key _ < "$HOME/.ssh/other.pub"
printf '# comment\n[127.0.0.1]:%s %s %s\n' "$PORT" "$type" "$key" > "$known"
cp "$known" before
for flags in "" --trustAllHosts; do
    # shellcheck disable=SC2086 # no word when empty
    assert_status 1 dcat $flags
    assert_eq "output" '' "$(cat out)"
    assert_contains err "HOST KEY HAS CHANGED.*$known line 2"
    assert_same before "$known"
done

# Revoked.
read -r type key _ < <(ssh-keygen -y -f "$T/server/cache/ssh_host_key_ed25519")
printf '@revoked * %s %s\n[127.0.0.1]:%s %s %s\n' \
    "$type" "$key" "$PORT" "$type" "$key" > "$known"
assert_status 1 dcat --trustAllHosts
assert_contains err "revoked in $known line 1"

# A certificate authority's line makes no host known, and that is said.
for names in "[127.0.0.1]:$PORT" "127.0.0.*"; do
    echo "@cert-authority $names $type $key" > "$known"
    assert_status 1 no_terminal
    assert_contains err "not known .*$known line 1 has an authority for it"
done
# The host's own key beside it is known.
echo "[127.0.0.1]:$PORT $type $key" >> "$known"
dcat
assert_eq "known beside an authority" text "$(cat out)"
stop_server
