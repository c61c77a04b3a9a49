# SPDX-License-Identifier: Apache-2.0
# Sourced behind functions.sh: many servers by name, which are one.

# fleet_start NR "KIND…": starts a server that is called h0001 to hNR; writes
# ssh_config, and a known_hosts with 10,000 hashed lines, theirs among them.
# KINDs are bad-server.py's, with PORT for the server's. Sets fleet_bad, a list
# of those, and makes the file "line".
fleet_start()
{
    local nr=$1 kinds=() kind type key
    echo 'a line' > line
    chmod 644 line
    start_server
    for kind in $2; do
        kinds+=("${kind/PORT/$PORT}")
    done
    python3 "$top_srcdir/tests/bad-server.py" "${kinds[@]}" > bad-ports &
    cleanup_fn kill_quietly $!
    wait_until fleet_has_ports ${#kinds[@]}
    fleet_bad=$(sed 's/^/127.0.0.1:/' bad-ports | paste -sd,)
    printf 'Host h*\n HostName 127.0.0.1\n Port %s\n HostKeyAlias %%n\n' \
        "$PORT" > "$HOME/.ssh/config"
    read -r type key _ \
        < <(ssh-keygen -y -f "$T/server/cache/ssh_host_key_ed25519")
    {
        seq -f "[h%04.0f]:$PORT $type $key" 1 "$nr"
        sed "s|.*|[127.0.0.1]:& $type $key|" bad-ports
    } > "$HOME/.ssh/known_hosts"
    ssh-keygen -q -H -f "$HOME/.ssh/known_hosts" > /dev/null 2>&1
    rm "$HOME/.ssh/known_hosts.old"
    awk -v nr=$((10000 - nr)) 'BEGIN {
        for (i = 0; i < nr; i++)
            printf "|1|%027d=|%027d= ssh-ed25519 AAAA%d\n", i, i, i
    }' >> "$HOME/.ssh/known_hosts"
}

fleet_has_ports() # NUMBER
{
    [ -f bad-ports ] && [ "$(wc -l < bad-ports)" -eq "$1" ]
}
