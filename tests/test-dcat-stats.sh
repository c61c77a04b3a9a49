# SPDX-License-Identifier: Apache-2.0
# --stats prints one line on standard error at the end, with what was printed
# and how many servers failed; standard output has the data only.
. ./functions.sh || exit 99
printf 'one\ntwo\n' > f
chmod 644 f

check()
{
    run_client dcat --plain --stats "$T/f" > out 2> err
    assert_same f out
    assert_eq "lines of statistics" 1 "$(grep -c '^STATS|' err)"
    assert_contains err '^STATS[|]dcat[|]servers=1[|]completed=1[|]failed=0[|]elapsed=[0-9.]*s[|]bytes=8[|]MB/s=[0-9.]*([|]lines=2)?$'
    run_client dcat --plain "$T/f" > out 2> err
    assert_lacks err '^STATS'
}
run_both_ways check

WAY_ARGS=()
"$(program_path dcat)" --cfg none --stats --servers "127.0.0.1:1" \
    --trustAllHosts --plain "$T/f" > out 2> err || true
assert_contains err '^STATS[|]dcat[|]servers=1[|]completed=0[|]failed=1[|]'
