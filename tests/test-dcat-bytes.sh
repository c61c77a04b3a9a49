# SPDX-License-Identifier: Apache-2.0
# dcat: --plain is the file byte for byte; with heads each line has its number.
. ./functions.sh || exit 99

genlog log 20000 > log
: > empty
printf 'a\nb\n\nlast' > no-newline
printf '\n\n\n' > newlines
printf '%b' 'nul \0 here\ncr\r\n\033[31mred\033[0m\n\0254 euro \342\202\254\n.dot\n\377\376\n' \
    > bytes
head -c 3000000 /dev/zero | tr '\0' 'x' > long
printf '\nshort\n' >> long
head -c 200000 /dev/urandom > random
chmod 644 log empty no-newline newlines bytes long random

# heads FILE: what dcat should print, without the host.
heads()
{
    awk -v name="$1" '{ print "REMOTE|HOST|100|" NR "|" name "|" $0 }' "$1"
}

# What stands on stderr, but for the first contact with the server.
notes()
{
    grep -v 'Added hosts to known hosts file' err || true
}

check()
{
    local file
    for file in log empty no-newline newlines bytes long random; do
        run_client dcat --plain --files "$T/$file" > out 2> err
        assert_same "$file" out
        [ "$file" = long ] || assert_eq "stderr of $file" '' "$(notes)"
    done
    # The limit of the server's configuration is 1 MiB.
    run_client dcat --plain "$T/long" 2> err > out
    assert_contains err '^SERVER\|[^|]*\|WARN\|.*long\|Long log line'
    for file in log empty no-newline newlines; do
        run_client dcat "$T/$file" > out 2> err
        sed 's/^REMOTE|[^|]*|/REMOTE|HOST|/' out > out.heads
        heads "$file" > want
        assert_same want out.heads
        assert_eq "stderr of $file" '' "$(notes)"
    done
    # Any byte may stand in a line; a cut line ends with a newline each time.
    run_client dcat "$T/bytes" > out
    sed 's/^REMOTE|[^|]*|100|[0-9]*|bytes|//' out > out.text
    assert_same bytes out.text
    run_client dcat "$T/long" > out
    sed 's/^REMOTE|[^|]*|100|[0-9]*|long|//' out | tr -d '\n' > out.text
    tr -d '\n' < long > want
    assert_same want out.text
    [ "$(tail -n 1 out | cut -d '|' -f 6)" = short ] || fail "last line of long"
}
run_both_ways check
