# SPDX-License-Identifier: Apache-2.0
# With line headers too, turbo and normal, serverless and SSH do not differ.
. ./functions.sh || exit 99
requires_program dcat
requires_plugin cat

genlog log 20000 > one.log
genlog numbers 30000 > two.log
printf 'last line without end' >> two.log

compare()
{
    run_client dcat --files "$T/one.log,$T/two.log" > "out.$WAY" 2> client.err
    assert_eq "lines" 50001 "$(wc -l < "out.$WAY")"
    [ -f first ] || cp "out.$WAY" first
    assert_same first "out.$WAY"
}
run_both_ways compare
head -n 1 first > line
assert_contains line '^REMOTE\|[^|]+\|100\|1\|one\.log\|2026-10-02'
