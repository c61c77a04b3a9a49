# SPDX-License-Identifier: Apache-2.0
# dgrep: patterns travel byte for byte; a wrong one is told once, with its
# place, before any connection. Expensive ones: test-dgrep-expensive.sh.
. ./functions.sh || exit 99
requires_plugin grep

printf 'end \nend\n\377\376 raw\n tab\there\nq"uote\\\n' > odd
chmod 644 odd

one() # LINE-NUMBER PATTERN
{
    sed -n "$1p" odd > want
    run_client dgrep --plain --fixed --regex "$2" "$T/odd" > out 2> err
    assert_same want out
}

check()
{
    one 1 'end '
    one 3 "$(printf '\377\376')"
    one 4 "$(printf '\t')"
    one 5 'q"uote\'
    assert_status 2 run_client dgrep --regex 'x(' "$T/odd" > out 2> err
    assert_eq 'complaints about the pattern' 1 "$(grep -c 'offset 1' err)"
    [ ! -s out ] || fail "a wrong pattern has output"
    head -c 100000 /dev/zero | tr '\0' x > long-pattern
    assert_status 2 run_client dgrep --regex "$(cat long-pattern)" "$T/odd" \
        > out 2> err
    assert_contains err 'long|65536'
    # once for all servers, before any is asked
    assert_status 2 run_client dgrep --servers 127.0.0.1:1,127.0.0.1:2 \
        --regex 'x(' "$T/odd" > out 2> err
    assert_eq 'complaints about the pattern' 1 "$(grep -c 'offset 1' err)"
    # Others are served as before.
    one 1 'end '
}
run_both_ways check
