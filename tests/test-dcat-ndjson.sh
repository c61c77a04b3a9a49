# SPDX-License-Identifier: Apache-2.0
# --output ndjson gives each line as a JSON object, from which jq and base64
# make the file's bytes again.
. ./functions.sh || exit 99
requires jq
printf 'one\n\nq"\\|\t\033[m\r\nnot utf-8: \377\nlast' > f
chmod 644 f

check()
{
    run_client dcat --output ndjson "$T/f" > out
    jq -r 'if .text_base64 then "b" else "t" end' out | tr -d '\n' > kinds
    assert_eq "kinds of text" tttbt "$(cat kinds)"
    assert_eq "numbers" "1 2 3 4 5 " "$(jq -r .line out | tr '\n' ' ')"
    assert_eq "sources" f "$(jq -r .source out | sort -u | sed 's,.*/,,')"
    [ -n "$(jq -r .server out | sort -u)" ] || fail "no server"
    while read -r object; do
        if [ "$(jq -n "$object | has(\"text\")")" = true ]; then
            jq -rj -n "$object | .text"
        else
            jq -r -n "$object | .text_base64" | base64 -d
        fi
        echo
    done < out > back
    { cat f; echo; } > want
    assert_same want back
    run_client dgrep --output ndjson --regex '^$' "$T/f" > out
    assert_eq "an empty line" '2:""' "$(jq -c '"\(.line):\(.text|tojson)"' out |
        jq -r .)"
}
run_both_ways check

assert_status 2 run_client dcat --output ndjson --plain f
assert_status 2 run_client dcat --output table f
assert_status 2 run_client dgrep --output ndjson --count f
run_client dcat --output plain "$T/f" > out
assert_same f out
