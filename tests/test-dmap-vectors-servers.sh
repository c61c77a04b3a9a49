# SPDX-License-Identifier: Apache-2.0
# The vectors of the query language over two servers, each with a share of the
# lines, in turbo and in normal mode. A vector allows that when its result is
# the same for its lines and files in the opposite order.
. ./functions.sh
. "$top_srcdir/tests/vector-functions.sh"

# Puts the shares into data/one and data/two, and names them.
share_files()
{
    local i n=${#names[@]}
    if [ "$nr_files" -gt 1 ]; then
        mkdir -p data/one data/two
        files=()
        for ((i = 0; i < n; i++)); do
            local folder=data/$([ "$i" -eq 0 ] && echo one || echo two)
            mkdir -p "$folder/$(dirname "${names[$i]}")"
            mv "data/${names[$i]}" "$folder/${names[$i]}"
            files+=("$T/$folder/${names[$i]}")
        done
        return
    fi
    cut_file 2 || return 1
    mkdir data/one data/two
    mv data/part-aa data/one/part
    mv data/part-ab data/two/part
    files=("$T/data/one/part" "$T/data/two/part")
}

# The same in the opposite order, of lines (behind a header) and of files.
turn_round()
{
    local i file
    turned=()
    for ((i = ${#files[@]} - 1; i >= 0; i--)); do
        file=${files[$i]}
        if [ "$format" = csv ]; then
            awk '!seen && /[^ \t\r]/ { seen = 1; print; next }
                seen { row[n++] = $0 }
                END { while (n) print row[--n] }' "$file" > "$file.turned"
        else
            tac "$file" > "$file.turned"
        fi
        turned+=("$file.turned")
    done
}

is_allowed()
{
    local turned files=("${files[@]}")
    turn_round
    WAY=serverless-turbo WAY_ARGS=()
    files=("${turned[@]}")
    run_vector
    is_expected
}

check_all() # SERVERS HOST
{
    local files name kind query host color expected error format nr_files
    local names contents mode
    while IFS= read -r -d '' line; do
        eval "$line"
        fix_literal
        [ "$host" = "$2" ] && [ -z "$error" ] || continue
        write_files
        share_files || continue
        if ! is_allowed; then
            others+=("$name")
            continue
        fi
        for mode in yes no; do
            WAY=servers-turbo-$mode
            WAY_ARGS=("${SSH_ARGS[@]:2}" --servers "$1" --turbo=$mode)
            check_result
        done
        ran=$((ran + 1))
    done < vectors
}

ran=0 others=()
for server_host in node7 node9; do
    export DTAIL_HOSTNAME_OVERRIDE=$server_host
    ADD_SERVER='"Permissions": {"Default": ["readfiles:^/.*/data/one/"]}'
    start_server
    one=$SERVER_PID servers=127.0.0.1:$PORT
    ADD_SERVER='"Permissions": {"Default": ["readfiles:^/.*/data/two/"]}'
    start_server
    check_all "$servers,127.0.0.1:$PORT" $server_host
    stop_server
    stop_server "$one"
done
echo "vectors over two servers: $ran; their order matters: ${others[*]}"
[ "$ran" -ge 74 ] || fail "only $ran vectors; order matters in: ${others[*]}"
