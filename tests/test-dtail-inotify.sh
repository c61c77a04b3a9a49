# SPDX-License-Identifier: Apache-2.0
# A process has one inotify instance, however many queries follow; where the
# kernel's limits leave none, files are polled, rotation is seen all the same,
# and one line names the limit.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"
requires unshare setpriv

tail_request() # ID FILE
{
    frame 2 "{\"id\":$1,\"plugin\":\"tail\",\"files\":[\"$2\"],\"plain\":true,\"follow\":true,\"from_start\":true}"
}

instances() # PID
{
    find "/proc/$1/fd" -lname 'anon_inode:inotify' | wc -l
}

two_queries()
{
    local worker client
    mkfifo requests
    # shellcheck disable=SC2094 # never read here
    ssh_dtail "$TEST_USER" "$HOME/.ssh/id_ed25519" < requests > answers &
    client=$!
    cleanup_fn kill_quietly $client
    exec 7> requests
    hello >&7
    for f in a b; do
        echo "begin $f" > $f
        chmod 644 $f
    done
    tail_request 1 "$T/a" >&7
    tail_request 2 "$T/b" >&7
    wait_until grep -aq 'begin a' answers
    wait_until grep -aq 'begin b' answers
    worker=$(children worker)
    assert_eq 'inotify instances of two queries' 1 "$(instances "$worker")"
    # both are told what happens
    echo 'more b' >> b
    echo 'more a' >> a
    wait_until grep -aq 'more a' answers
    wait_until grep -aq 'more b' answers
    exec 7>&-
    # shellcheck disable=SC2046
    kill -KILL $(children session)
    wait $client || true
    wait_until has_children worker 0
}

# limited NAME: makes a program that runs another one in a user namespace where
# the kernel's limit is 0; this machine's own is left alone.
limited()
{
    printf '#!/bin/sh
exec unshare -U --map-current-user --keep-caps \
    sh -c '\''echo 0 > /proc/sys/user/%s || exit 77
        exec setpriv --inh-caps -all --ambient-caps -all "$@"'\'' sh "$@"\n' \
        "$1" > limited
    chmod 755 limited
}

polled() # NAME
{
    echo begin > log
    chmod 644 log
    follow --lines 1 "$T/log"
    wait_until has_line begin
    echo one >> log
    wait_until has_line one
    mv log log.1
    echo two >> log.1
    echo three > log
    chmod 644 log
    wait_until has_line three
    : > log
    echo 'four, after a truncation' > log
    printf '%s\n' begin one two three 'four, after a truncation' > want
    ends_with 'four, after a truncation'
    assert_eq 'lines that name the limit' 1 \
        "$(grep -c "limit fs.inotify.$1=.* reached" client.err)"
    rm log log.1
}

start_server
two_queries
stop_server
for name in instances watches; do
    limited "max_inotify_$name"
    name=max_user_$name
    ./limited true || skip "no user namespace with limits of its own"
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$T/limited" "$SERVER" \
        > limited-server
    chmod 755 limited-server
    real=$SERVER
    SERVER=$T/limited-server
    start_server
    SERVER=$real
    for way in ssh-turbo ssh-normal; do
        set_way $way
        polled "$name"
    done
    stop_server
    for way in serverless-turbo serverless-normal; do
        set_way $way
        (wrapper=("$T/limited" "${wrapper[@]}") && polled "$name")
    done
done
