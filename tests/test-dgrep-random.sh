# SPDX-License-Identifier: Apache-2.0
# dgrep with random patterns and flags over random logs: what each way, with
# one to four threads, gives out is the same byte for byte, of the file and of
# the same compressed, and where grep has the flag, is what grep finds.
#
# DGREP_SEED is the first seed (default 1), DGREP_ROUNDS how many (default 4).
. ./functions.sh
requires_plugin grep
requires_program dgrep dserver
requires awk grep gzip

rounds=${DGREP_ROUNDS:-4}
seed=${DGREP_SEED:-1}

# random_log SEED LINES: words that the patterns below are made of; now and
# then an empty line, CR LF, a long line, a byte that is not UTF-8.
random_log()
{
    awk -v seed="$1" -v lines="$2" '
        BEGIN {
            srand(seed)
            nr = split("ERROR WARN INFO user1 user22 ab aab abb é x=7 [ok]" \
                " (b) a+b 2026-01-02 /var/log aaaa b", word, " ")
            for (i = 0; i < lines; i++) {
                kind = rand()
                n = kind < 0.03 ? 0 : kind < 0.06 ? 150 : int(rand() * 12) + 1
                line = ""
                for (j = 0; j < n; j++) {
                    line = line (j ? " " : "") word[int(rand() * nr) + 1]
                }
                if (kind > 0.97) {
                    line = line sprintf("%c", 255)
                }
                printf "%s%s", line, i == lines - 1 && seed % 2 ? "" : "\n"
            }
        }'
}

# random_flags SEED: a line each: pattern, flags that grep has too, flags that
# only dgrep has, MaxLineLength, threads.
random_flags()
{
    awk -v seed="$1" '
        function one(list, parts, n) {
            n = split(list, parts, " ")
            return parts[int(rand() * n) + 1]
        }
        function piece() {
            return one("ERROR user user2+ a+b (a|b)b+ [ab]{2,3} ^ERROR b$" \
                " x=[0-9] é [^a]b 20[0-9]{2}-01 (WARN|INFO).user1 aa. ^$" \
                " .{200} log.*ab \\[ok\\] ^b|7$")
        }
        BEGIN {
            srand(seed * 7919)
            pattern = rand() < 0.3 ? piece() "|" piece() : \
                rand() < 0.3 ? "(" piece() ").*" piece() : piece()
            print pattern
            both = (rand() < 0.3 ? " -i" : "") (rand() < 0.25 ? " -v" : "")
            print both
            own = rand() < 0.4 ? "" : \
                (rand() < 0.5 ? " --before " int(rand() * 4) : "") \
                (rand() < 0.5 ? " --after " int(rand() * 4) : "") \
                (rand() < 0.4 ? " --max " int(rand() * 50) + 1 : "") \
                (rand() < 0.3 ? " --and " piece() : "") \
                (rand() < 0.3 ? " --not " piece() : "")
            print own
            print rand() < 0.4 ? one("1 7 64 1000") : 1048576
        }'
}

write_config() # LINE-LENGTH THREADS
{
    ADD_SERVER="\"MaxLineLength\": $1, \"Plugins\": {\"grep\": {\"Threads\": $2}}"
    server_config > "$T/dtail.json"
}

# without_host FILE: FILE.heads without what differs between the ways.
without_host()
{
    sed 's/^\(REMOTE\|LOCAL\)|[^|]*|/HOST|/' "$1" > "$1.heads"
}

# run_dgrep NAME ARGUMENTS...: plain, with heads and counted.
run_dgrep()
{
    local name=$1 status=0
    shift
    run_client dgrep --cfg "$T/dtail.json" --plain "$@" > "$name.plain" \
        2> client.err || status=$?
    run_client dgrep --cfg "$T/dtail.json" "$@" > "$name.full" \
        2> client.err || status=$?
    run_client dgrep --cfg "$T/dtail.json" --count --plain "$@" \
        > "$name.count" 2> client.err || status=$?
    assert_eq "the status of $name" 0 "$status"
    without_host "$name.full"
}

# The settings of new sessions, once the log says so.
reload_server()
{
    local before
    before=$(grep -c "|settings|" "$T/server.log")
    kill -HUP "$SERVER_PID"
    wait_until reloads_are_more_than "$before"
}

reloads_are_more_than()
{
    [ "$(grep -c "|settings|" "$T/server.log")" -gt "$1" ]
}

one_round() # SEED
{
    local pattern both own length threads lines=200 args way
    { read -r pattern; read -r both; read -r own; read -r length; } \
        < <(random_flags "$1")
    [ $(($1 % 2)) -eq 0 ] || lines=30000 # above 1 MiB: slices
    random_log "$1" "$lines" > log
    gzip -1 < log > log.gz # one stream for all threads
    chmod 644 log log.gz
    read -r -a args <<< "$own ${both/-i/--ignore-case}"
    args=("${args[@]/#-v/--invert}" --regex "$pattern" "$T/log")
    report "seed $1: $lines lines, MaxLineLength $length: ${args[*]}"
    if [ -z "$own" ] && [ "$length" -ge 1000000 ]; then
        # shellcheck disable=SC2086
        LC_ALL=C.UTF-8 grep -aE $both -e "$pattern" log > want || true
    else
        rm -f want
    fi
    for threads in 1 2 3 4; do
        write_config "$length" "$threads"
        WAY=serverless-turbo-$threads WAY_ARGS=()
        run_dgrep got "${args[@]}"
        if [ ! -f want ]; then
            cp got.plain want
        fi
        if [ $threads -eq 1 ]; then
            cp got.full.heads want.heads
            cp got.count want.count
        fi
        assert_same want got.plain
        assert_same want.heads got.full.heads
        assert_same want.count got.count
        run_client dgrep --cfg "$T/dtail.json" --plain \
            "${args[@]/%"$T/log"/$T/log.gz}" > got.gz 2> client.err
        assert_same want got.gz
    done
    WAY=serverless-normal WAY_ARGS=(--turbo=no)
    run_dgrep got "${args[@]}"
    assert_same want got.plain
    assert_same want.heads got.full.heads
    assert_same want.count got.count
    reload_server
    for way in ssh-turbo ssh-normal; do
        set_way "$way"
        run_dgrep got "${args[@]}"
        assert_same want got.plain
        assert_same want.heads got.full.heads
        assert_same want.count got.count
    done
    WAY= WAY_ARGS=()
}

start_server
for ((i = 0; i < rounds; i++)); do
    one_round $((seed + i))
done
stop_server
