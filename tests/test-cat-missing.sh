# SPDX-License-Identifier: Apache-2.0
# A missing file is a note on stderr and status 0; with --strict a failure.
# The files that are there are printed either way.
. ./functions.sh || exit 99
requires_program dcat
requires_plugin cat

echo here > here.log

check_missing()
{
    assert_status 0 run_client dcat --plain \
        --files "$T/missing.log,$T/here.log" > out 2> client.err
    assert_same here.log out
    assert_contains client.err 'missing\.log'
    # nothing matches: no source at all, and still an end
    assert_status 0 run_client dcat --plain --files "$T/no-*.such" \
        > out 2> client.err
    [ ! -s out ] || fail "output without a file: $(head -n 1 out)"
    status=0
    run_client dcat --plain --strict --files "$T/missing.log" \
        > out 2> client.err || status=$?
    [ $status -ne 0 ] || fail "--strict took a missing file for success"
}
run_both_ways check_missing
