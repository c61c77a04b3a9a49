# SPDX-License-Identifier: Apache-2.0
# Without a file in CacheDir the user's own ~/.ssh/authorized_keys counts, and
# its folders are looked at as well. As root only: it makes an account's home.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires useradd userdel
requires_root

user=dt-own-$$
useradd --no-create-home --home-dir "$T/own" "$user"
cleanup_fn userdel "$user"
mkdir -p "$T/own/.ssh"
NO_KEYS=yes
start_server
cp "$HOME/.ssh/id_ed25519.pub" "$T/own/.ssh/authorized_keys"
chown -R "$user:" "$T/own"
# The server is an ordinary user here and must be able to read the file.
chmod 755 "$T/own" "$T/own/.ssh"

ssh_dtail "$user" "$HOME/.ssh/id_ed25519" < /dev/null > out
assert_contains out '"protocol":1'
for way in "$T/own" "$T/own/.ssh" "$T/own/.ssh/authorized_keys"; do
    mode=$(stat -c %a "$way")
    chmod g+w "$way"
    assert_status 255 ssh_dtail "$user" "$HOME/.ssh/id_ed25519" \
        < /dev/null > out 2> err
    chmod "$mode" "$way"
    wait_until log_has "$way: mode|authorized_keys: mode"
done
chown 12345 "$T/own/.ssh"
assert_status 255 ssh_dtail "$user" "$HOME/.ssh/id_ed25519" < /dev/null \
    > out 2> err
wait_until log_has 'owned by uid 12345'
stop_server
