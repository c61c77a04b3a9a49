# SPDX-License-Identifier: Apache-2.0
# Every vector of the query language through dmap: serverless and through SSH,
# in turbo and in normal mode, from one file and cut over three.
. ./functions.sh
. "$top_srcdir/tests/vector-functions.sh"

check_error()
{
    assert_status 2 dmap --query "$query" "${files[@]}" > out
    [ ! -s out ] || fail "$name: output: $(cat out)"
    grep -aqF "|Can't parse mapr query|$error" err ||
        fail "$name: not '$error' but: $(cat err)"
}

check_all()
{
    local files name kind query host color expected error format nr_files
    local names contents ran=0
    while IFS= read -r -d '' line; do
        eval "$line"
        [ "$host" = "$1" ] || continue
        fix_literal
        write_files
        if [ -n "$error" ]; then
            check_error
        else
            check_result
            if cut_file 3; then
                check_result
            fi
        fi
        ran=$((ran + 1))
    done < vectors
    total=$((total + ran))
}

total=0
for server_host in node7 node9; do
    export DTAIL_HOSTNAME_OVERRIDE=$server_host
    run_both_ways check_all $server_host
done
assert_eq "runs of vectors" $((4 * $(tr -dc '\000' < vectors | wc -c))) $total
[ "$total" -ge 384 ] || fail "only $total runs"
