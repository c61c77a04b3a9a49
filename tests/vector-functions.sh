# SPDX-License-Identifier: Apache-2.0
# Sourced behind functions.sh by the tests that run the vectors of the query
# language through dmap.

requires jq awk
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

is_expected()
{
    printf %s "$expected" | cmp -s - out
}

# The result of $query over ${files[@]} in $T/out.
run_vector()
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
}

check_result()
{
    run_vector
    is_expected ||
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

# The lines of the one file in parts, $1 of them; a part of a CSV file has the
# header of the whole. Not where there is nothing to cut.
cut_file()
{
    local header=/dev/null part
    [ "$nr_files" -eq 0 ] && [ -s data/input ] || return 1
    rm -f data/part-* data/header data/rows
    cp data/input data/rows
    if [ "$format" = csv ]; then
        # Blank lines in front of it are none.
        header=data/header
        awk -v h=data/header -v r=data/rows 'BEGIN { printf "" > r }
            !seen && /[^ \t\r]/ { seen = 1; print > h; next }
            { print > r }' data/input
        [ -s data/header ] || return 1
    fi
    split -n "l/$1" data/rows data/rest-
    files=()
    for part in data/rest-*; do
        cat "$header" "$part" > "data/part-${part##*-}"
        files+=("$T/data/part-${part##*-}")
    done
    rm -f data/rest-*
}
