# SPDX-License-Identifier: Apache-2.0
# Every vector of the query language through dmap: serverless and through SSH,
# in turbo and in normal mode, from one file and cut over three.
. ./functions.sh
requires jq
requires_program dserver
requires_plugin mapr

# Assignments for eval, a NUL behind each vector.
list_vectors()
{
    cat "$top_srcdir"/plugins/mapr/vectors/mapreduce{,_extra}.json | jq -j '
        def text: map(. + "\n") | join("");
        .[] | ((.files // {"input": .input}) | to_entries) as $files |
        @sh "name=\(.name) kind=\(.kind // "csv") query=\(.query)",
        @sh " host=\(.hostname) color=\(.color // false)",
        @sh " format=\(.logformat) nr_files=\(.files // {} | length)",
        @sh " expected=\(.better_csv // .expected_stdout //
            .expected_csv // "")",
        @sh " error=\(if .better_csv then "" else .expected_error // "" end)",
        @sh " names=(\([$files[].key]))",
        @sh " contents=(\([$files[].value | text]))", "\u0000"'
}
list_vectors > vectors || fail "jq: the vectors cannot be read"

# The only one that was an error: "" is an empty literal here.
fix_literal()
{
    if [ "$name" = error-empty-string-literal ]; then
        kind=csv error= expected=$'x\n'
    fi
}

# dmap, in the place where the vector's files are.
dmap()
{
    DTAIL_HOSTNAME_OVERRIDE=$host run_client dmap "$@" 2> "$T/err"
}

check_error()
{
    assert_status 2 dmap --query "$query" "${files[@]}" > out
    [ ! -s out ] || fail "$name: output: $(cat out)"
    grep -aqF "|Can't parse mapr query|$error" err ||
        fail "$name: not '$error' but: $(cat err)"
}

check_result()
{
    local flags=() outfile=" outfile $T/result.csv"
    rm -f result.csv
    if [ "$color" = true ]; then
        flags+=(--color=always) # a pipe gets none by itself
    else
        flags+=(--noColor)
    fi
    [ "$kind" != stdout ] || outfile=
    dmap "${flags[@]}" --query "$query$outfile" "${files[@]}" > out ||
        fail "$name: exit status $?: $(cat err)"
    if [ "$kind" != stdout ]; then
        [ ! -s out ] || fail "$name: output: $(cat out)"
        mv result.csv out
    fi
    printf %s "$expected" | cmp -s - out ||
        fail "$name: ${#files[@]} files: $(diff <(printf %s "$expected") out)"
}

write_files()
{
    local i
    rm -rf data
    mkdir data
    files=()
    for i in "${!names[@]}"; do
        mkdir -p "data/$(dirname "${names[$i]}")"
        printf %s "${contents[$i]}" > "data/${names[$i]}"
        files+=("$T/data/${names[$i]}")
    done
}

# The one file in three parts of whole lines; CSV has a header.
cut_file()
{
    [ "$nr_files" -eq 0 ] && [ "$format" != csv ] && [ -s data/input ] ||
        return 1
    split -n l/3 data/input data/part-
    files=("$T"/data/part-*)
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
            if [[ $WAY = *turbo ]] && cut_file; then
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
