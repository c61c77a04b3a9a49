# SPDX-License-Identifier: Apache-2.0
# dgrep: patterns travel byte for byte; a wrong one is told once, with its
# place, before any connection; an expensive one ends its query only.
. ./functions.sh || exit 99
requires_plugin grep

printf 'end \nend\n\377\376 raw\n tab\there\nq"uote\\\n' > odd
head -c 100000 /dev/zero | tr '\0' a > as
printf 'b\n' >> as
chmod 644 odd as

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
    # Whatever it costs, it ends, and the error names file and line.
    local status=0
    run_client dgrep --plain --regex '(a+)+$' "$T/as" > out 2> err || status=$?
    if [ $status -ne 0 ]; then
        assert_contains err 'pattern too expensive on .*as line 1'
    fi
    # Others are served as before.
    one 1 'end '
}
run_both_ways check
