#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs as root in a root of its own that was booted with systemd, with
# packages in /packages/1 and the same under a higher version in /packages/2:
# install, use, upgrade, as root, remove, purge. Called by
# scripts/package-check; never run it on a machine that is used.
set -Eeuo pipefail
trap 'echo "failed: line $LINENO: $BASH_COMMAND"; show_state' ERR
export DEBIAN_FRONTEND=noninteractive LC_ALL=C TZ=UTC HOME=/root
LIMIT=60

show_state()
{
    systemctl --no-pager status dserver || true
    journalctl --no-pager -u dserver | tail -n 30 || true
}
fail()
{
    echo "failed: $*"
    show_state
    exit 1
}
ok()
{
    echo "ok: $*"
}
wait_until()
{
    local end=$((SECONDS + LIMIT))
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "not within $LIMIT s: $*"
        read -r -t 0.05 <> /run/never || true
    done
}
listens()
{
    (exec 3<> /dev/tcp/127.0.0.1/2222) 2>/dev/null
}
install_from() # FOLDER
{
    apt-get -q -y --no-install-recommends install \
        "$1"/dtail-server_*.deb "$1"/dtail-clients_*.deb
}
# Files and accounts of the system, but what apt, dpkg and the journal keep.
snapshot()
{
    find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /tmp \
        -o -path /packages -o -path /var/lib/dpkg -o -path /var/lib/apt \
        -o -path /var/cache -o -path /var/log/apt -o -path /var/log/journal \
        -o -path /var/lib/systemd -o -path /root -o -path /home \
        -o -path /etc/ld.so.cache -o -path /usr/lib/locale \
        -o -path '/var/log/*.log' -o -path '/etc/*-' \) -prune -o -print | sort
}
as_user() # USER SERVER-SIDE-FILE [CLIENT ARGUMENTS]
{
    local user=$1 file=$2
    shift 2
    [ $# -gt 0 ] || set -- dcat --plain
    timeout "$LIMIT" "$@" --cfg none --servers 127.0.0.1 --user "$user" \
        --auth-key-path "/root/$user" --trustAllHosts --files "$file"
}
# reads USER FILE: the whole file comes.
reads()
{
    as_user "$1" "$2" > /tmp/got 2> /tmp/err || fail "$1, $2: $(cat /tmp/err)"
    cmp "$2" /tmp/got || fail "$1 got something else of $2: $(cat /tmp/err)"
}
# refused USER FILE: nothing of it comes.
refused()
{
    as_user "$1" "$2" > /tmp/got 2> /tmp/err || true
    [ ! -s /tmp/got ] || fail "$1 was given $2"
    grep -q "$2" /tmp/err || fail "$1, $2: no message: $(cat /tmp/err)"
}
main_pid()
{
    systemctl show -P MainPID dserver
}
# restarted PID: another process runs.
restarted()
{
    [ "$(main_pid)" != "$1" ] && [ "$(main_pid)" != 0 ] && listens
}
try_everything()
{
    local size pid
    reads alice /var/log/app.log
    reads alice /home/alice/own.log
    reads alice /tmp/in-tmp.log
    refused alice /var/log/of-adm.log
    reads bob /var/log/of-adm.log
    refused bob /var/log/of-root.log
    size=$(as_user alice /var/log/app.log dgrep --plain --regex 'line 7' |
        wc -l)
    [ "$size" = 111 ] || fail "dgrep: $size lines"
    # shellcheck disable=SC2016
    as_user alice /var/log/app.log dmap --query \
        'select count($line) from - group by $hostname' > /tmp/got 2>&1 ||
        true
    grep -q 1000 /tmp/got || fail "dmap: $(cat /tmp/got)"
    # Following, with another line as soon as the first one is there.
    cp /var/log/app.log /var/log/followed.log
    as_user alice /var/log/followed.log dtail --plain --lines 1 \
        > /tmp/followed 2>&1 &
    pid=$!
    wait_until grep -q 'line 1000' /tmp/followed
    echo "the next line" >> /var/log/followed.log
    wait_until grep -q 'the next line' /tmp/followed
    kill -INT $pid
    wait $pid || true
}

mkfifo /run/never
exec 4<> /run/never
snapshot > /packages/before
seq -f 'line %g' 1000 > /var/log/app.log
cp /var/log/app.log /var/log/of-adm.log
cp /var/log/app.log /var/log/of-root.log
cp /var/log/app.log /tmp/in-tmp.log
chmod 644 /var/log/app.log /tmp/in-tmp.log
chgrp adm /var/log/of-adm.log
chmod 640 /var/log/of-adm.log
chmod 600 /var/log/of-root.log
useradd -m alice
useradd -m -G adm bob
chmod 755 /home/alice
cp /var/log/app.log /home/alice/own.log
chown alice: /home/alice/own.log
chmod 644 /home/alice/own.log

# ---- install ----

install_from /packages/1
getent passwd dserver | grep -q nologin || fail "account: $(getent passwd dserver)"
[ "$(stat -c %U:%a /var/lib/dtail)" = dserver:700 ] || fail "state folder"
[ "$(stat -c %U:%a /var/log/dtail)" = dserver:750 ] || fail "log folder"
[ "$(systemctl is-enabled dserver)" = enabled ] || fail "not enabled"
wait_until listens
ok "installed, enabled, started"
for user in alice bob; do
    ssh-keygen -q -t ed25519 -N '' -f /root/$user
    install -o dserver -g dserver -m 600 /root/$user.pub \
        /var/lib/dtail/$user.authorized_keys
done
refused alice /tmp/in-tmp.log
ok "the sample settings give /var/log and nothing else"

# ---- settings ----

sed -i 's,"Default": .*,"Default": ["^/"]\,,' /etc/dtail/dtail.json
dserver --check-config --cfg /etc/dtail/dtail.json
cp /etc/dtail/dtail.json /packages/settings
pid=$(main_pid)
systemctl reload dserver
reads_tmp()
{
    as_user alice /tmp/in-tmp.log 2>/dev/null | cmp -s - /tmp/in-tmp.log
}
wait_until reads_tmp
[ "$(main_pid)" = "$pid" ] || fail "reload has restarted it"
ok "settings are read anew by systemctl reload"
try_everything
ok "users read what they may, in homes and /tmp too; following works"
for wanted in 'NoNewPrivs:.1' 'CapBnd:.0000000000000000' 'Seccomp:.2'; do
    grep -q "$wanted" "/proc/$pid/status" ||
        fail "$wanted: $(grep -E 'NoNew|Cap|Secc' "/proc/$pid/status")"
done
nsenter -t "$pid" -m setpriv --reuid dserver --regid dserver --clear-groups \
    sh -c '! touch /tmp/x && ! touch /home/x && ! touch /etc/x &&
        touch /var/lib/dtail/x && rm /var/lib/dtail/x' 2>/dev/null ||
    fail "what the service may write"
ok "no capability, a filter of system calls, only its own folders writable"
kill -KILL "$pid"
wait_until restarted "$pid"
reads alice /var/log/app.log
ok "killed, it is started again"

# ---- upgrade ----

cp /var/lib/dtail/ssh_host_key /packages/host-key
pid=$(main_pid)
install_from /packages/2
wait_until restarted "$pid"
dpkg-query -W -f '${Version}\n' dtail-server | grep -q -e '-99$'
cmp /etc/dtail/dtail.json /packages/settings
cmp /var/lib/dtail/ssh_host_key /packages/host-key
reads alice /var/log/app.log
ok "upgraded: restarted, settings and host keys as before"

# ---- as root ----

mkdir -p /etc/systemd/system/dserver.service.d
cp /usr/share/doc/dtail-server/examples/dserver-as-root.conf \
    /etc/systemd/system/dserver.service.d/as-root.conf
chmod 700 /home/alice
chmod 600 /home/alice/own.log
refused alice /home/alice/own.log
install -d -o alice -g alice -m 700 /home/alice/.ssh
install -o alice -g alice -m 600 /root/alice.pub \
    /home/alice/.ssh/authorized_keys
rm /var/lib/dtail/alice.authorized_keys
pid=$(main_pid)
systemctl daemon-reload
systemctl restart dserver
wait_until restarted "$pid"
own_log()
{
    setpriv --reuid alice --regid alice --clear-groups \
        cat /home/alice/own.log
}
own_log > /tmp/expected
as_user alice /home/alice/own.log > /tmp/got 2> /tmp/err ||
    fail "$(cat /tmp/err)"
cmp /tmp/expected /tmp/got || fail "as root: $(cat /tmp/err)"
refused bob /home/alice/own.log
refused alice /var/log/of-adm.log
reads alice /var/log/app.log
ok "as root, with the sample drop-in: key and log in a closed home"
rm -r /etc/systemd/system/dserver.service.d
systemctl daemon-reload

# ---- remove, purge ----

apt-get -q -y remove dtail-server
! listens || fail "removed, but it listens"
[ -s /etc/dtail/dtail.json ] || fail "removed, and the settings are gone"
[ -s /var/lib/dtail/ssh_host_key ] || fail "removed, and the keys are gone"
ok "removed: stopped, settings and keys are kept"
apt-get -q -y purge dtail-server dtail-clients
apt-get -q -y autoremove --purge
snapshot > /packages/after
diff /packages/before /packages/after ||
    fail "purged, but files differ from before"
ok "purged: no file is left, none is missing"
