# SPDX-License-Identifier: Apache-2.0
# dcat: lists, globs and words; files in their order; what is missing is a note
# and no failure, unless --strict.
. ./functions.sh || exit 99

mkdir -p logs/sub
for i in 1 2 3; do
    echo "text $i" > "logs/f$i.log"
done
echo "text sub" > logs/sub/f9.log
echo secret > unreadable
chmod 755 logs logs/sub
chmod 644 logs/*.log logs/sub/*.log
chmod 0 unreadable

expect() # WHAT LINES
{
    assert_eq "$1" "$2" "$(cat out)"
}

check()
{
    run_client dcat --plain --files "$T/logs/f3.log,$T/logs/f1.log" > out
    expect "order of a list" $'text 3\ntext 1'
    run_client dcat --plain "$T/logs/f2.log" " $T/logs/f1.log ,,$T/logs/f3.log" \
        > out
    expect "words" $'text 2\ntext 1\ntext 3'
    run_client dcat --plain "$T/logs/f[12].log" > out
    expect "glob" $'text 1\ntext 2'
    run_client dcat --plain --files "$T/logs/f1.log" "$T/logs/f2.log" > out
    expect "--files before words" 'text 1'
    # Behind the first word everything is a file.
    run_client dcat --plain "$T/logs/f1.log" --plain > out 2> err
    expect "a flag behind a word" 'text 1'
    assert_contains err '^SERVER\|[^|]*\|WARN\|.*--plain'

    run_client dcat --plain "$T/nothing" "$T/logs/f1.log" "$T/logs" > out 2> err
    expect "a missing file" 'text 1'
    assert_contains err '^SERVER\|[^|]*\|WARN\|.*nothing'
    assert_contains err "^SERVER\|[^|]*\|WARN\|.*$T/logs"
    assert_status 1 run_client dcat --strict "$T/nothing" "$T/logs/f1.log" \
        > out 2> err
    assert_status 0 run_client dcat --strict "$T/logs/f1.log" > out
    assert_status 0 run_client dcat "$T/no*thing" > out 2> err
    expect "an empty glob" ''
}
run_both_ways check

# Rights are the server's user's; root serverless may read it.
set_way ssh-turbo
assert_status 0 run_client dcat --plain "$T/unreadable" > out 2> err
expect "an unreadable file" ''
assert_contains err '^SERVER\|[^|]*\|WARN\|.*unreadable'
assert_status 1 run_client dcat --strict "$T/unreadable" > out 2> err
stop_server
