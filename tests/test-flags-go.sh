# SPDX-License-Identifier: Apache-2.0
# Every flag of the Go clients with every client that has it, and their
# shorthands: docs/drop-in.md. Scripts that pass them keep working.
. ./functions.sh || exit 99
requires_program dcat dgrep dmap dtail
requires_plugin cat grep tail mapr
printf 'one\ntwo ERROR\nthree\n' > f
cat > settings <<END
{"Client": {"TermColorsEnable": false}}
END
# In front of each: what all four have.
common=(-agentKeyIndex=-1 -auth-key-path= --cfg none -control-tty /dev/tty
    -cpc 0 --cpc=-3 -cpc 0x10 -cpuprofile=false --discovery= -key=
    -interactive-query=false -log-payload=false -logDir "$T/log"
    -logLevel warn -logger FOUT -memprofile=0 -no-auth-key -noColor --plain=T
    -port 2222 -profile=f -profiledir "$T/p" -quiet=TRUE -servers serverless
    -trustAllHosts -user me -version=false)

# gives WANT PROGRAM ARGUMENTS...
gives()
{
    local want=$1 program
    program=$(program_path "$2")
    shift 2
    timeout "$LIMIT" "$program" "$@" > out 2> err < /dev/null ||
        fail "$*: status $?: $(cat err)"
    assert_eq "$*" "$want" "$(cat out)"
}

all=$(cat f)
gives "$all" dcat "${common[@]}" -files f
gives "$all" dcat "${common[@]}" f
gives "$all"$'\n'"$all" dcat "${common[@]}" f,f
gives 'two ERROR' dgrep "${common[@]}" -regex ERROR f
gives 'two ERROR' dgrep "${common[@]}" -regex one -grep ERROR f
gives $'one\nthree' dgrep "${common[@]}" -grep ERROR -invert f
gives "$all" dgrep "${common[@]}" -grep ERROR -before 1 -after 1 f
gives one dgrep "${common[@]}" -grep . -max 1 f
gives "$all" dgrep "${common[@]}" f # the pattern is . by default
gives "$all" dcat "${common[@]}" --pprof localhost:0 f
assert_contains err pprof
gives "$all" dcat "${common[@]}" -- f
gives "$all" dcat "${common[@]}" -cfg settings f

# Queries: by flag, as a word, and as a word beside --files.
query='select count(*)'
for words in "-query|$query|f" "$query|f" "-files|f|$query"; do
    IFS='|' read -r -a words <<< "$words"
    gives "$query"$'\n'" count(*) "$'\n'"----------"$'\n'"        3 " \
        dmap "${common[@]}" -timeout 0 "${words[@]}"
done

# dtail ends at its limits.
gives '' dtail "${common[@]}" -shutdownAfter 1 -regex . -max 0 -before 0 \
    -after 0 f
gives '' dtail "${common[@]}" -timeout 1 -grep . f

for program in dcat dgrep dmap dtail; do
    gives "$("$(program_path dcat)" -version)" "$program" -version
    assert_contains out '^DTail .* Protocol 4\.1 '
    gives '' "$program" -h
    gives '' "$program" --help
    assert_contains err '^Usage of '
done
assert_status 2 run_client dcat -log-payload f 2> err # not there, and said
assert_contains err "not available"
