# SPDX-License-Identifier: Apache-2.0
# outfile: whole results only. A kill in the middle, a full disk and a folder
# that is not there leave what was there before, and are told.
. ./functions.sh
requires_plugin mapr
genlog stats 20000 > log
chmod 644 log
query='from STATS select host,count($line),sum(took) group by host outfile'

dmap()
{
    run_client dmap --noColor "$@" 2> err
}

check()
{
    rm -f r.csv*
    dmap --query "$query $T/r.csv" "$T/log" > out
    assert_eq "output" '' "$(cat out)"
    assert_eq "lines" 51 "$(wc -l < r.csv)"
    assert_eq "header" 'host,count($line),sum(took)' "$(head -n 1 r.csv)"
    assert_eq ".query" "$query $T/r.csv" "$(cat r.csv.query)"
    assert_eq "files" "r.csv r.csv.query" "$(echo r.csv*)"

    # Again: replaced; appended: one header, in front of both results.
    cp r.csv want
    dmap --query "$query $T/r.csv" "$T/log"
    assert_same want r.csv
    dmap --query "$query append $T/r.csv" "$T/log"
    { cat want && sed 1d want; } > twice
    assert_same twice r.csv

    # Something on standard output besides.
    dmap --output ndjson --query "$query r.csv" "$T/log" > out
    assert_same want r.csv
    assert_eq "ndjson" 50 "$(grep -c '^{.*}$' out)"
    dmap --plot --query "$query r.csv" "$T/log" > out
    assert_same want r.csv
    assert_contains out '█'
}
run_both_ways check

# ---- what goes wrong ----

failed() # WHAT
{
    assert_contains err "Unable to write final mapreduce result.*$1"
    assert_same want r.csv
    [ ! -e r.csv.tmp ] || fail "$1: a temporary file is left"
}

cp want r.csv
assert_status 1 dmap --query "$query $T/none/r.csv" "$T/log"
failed 'No such file'

# Larger than a file may be: the write fails in the middle.
limited()
(
    trap '' XFSZ
    ulimit -f 1
    dmap --logger stdout --query "$query $T/r.csv" "$T/log"
)
assert_status 1 limited
failed 'File too large'

# A full disk.
mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=16k none disk 2>/dev/null
then
    cleanup_fn umount "$T/disk"
    cp want disk/r.csv
    head -c 20000 /dev/zero > disk/fill 2>/dev/null || true
    assert_status 1 dmap --query "$query $T/disk/r.csv" "$T/log"
    assert_contains err 'Unable to write final .*No space left'
    assert_same want disk/r.csv
    [ ! -e disk/r.csv.tmp ] || fail "full disk: a temporary file is left"
fi

# Killed at any moment: what stands there is a whole result.
mkfifo pipe
exec 4<> pipe
for i in 1 2 3 4 5; do
    cp want r.csv
    touch mark
    "${wrapper[@]}" "$(program_path dmap)" --cfg none \
        --query "${query/outfile/interval 1 outfile} $T/r.csv" < pipe 2> err &
    CLIENT_PID=$!
    cleanup_fn kill_quietly $CLIENT_PID
    head -n 400 log >&4 # what a pipe holds
    [ $i -lt 3 ] || wait_until test r.csv -nt mark
    kill -KILL "$CLIENT_PID"
    wait_client || true
    assert_eq "killed: header" "$(head -n 1 want)" "$(head -n 1 r.csv)"
    assert_lacks r.csv '^[^,]*(,[^,]*)?$'
    assert_eq "killed: last byte" 0a "$(tail -c 1 r.csv | od -An -tx1 | tr -d ' ')"
done
