# SPDX-License-Identifier: Apache-2.0
# Command line of the clients: Go's spelling, its error texts, status 2.
. ./functions.sh || exit 99
echo text > f
dcat=$(program_path dcat)

for spelling in -plain --plain -plain=true --plain=T -plain=1; do
    assert_eq "$spelling" text "$(run_client dcat "$spelling" f)"
done
for spelling in -plain=false --plain=0 --plain=F; do
    run_client dcat "$spelling" f > out
    assert_contains out '^REMOTE\|[^|]*\|100\|1\|f\|text$'
done
assert_eq "a value of its own word" text "$(run_client dcat -plain -files f)"
assert_eq "--" text "$(run_client dcat -plain -- f)"

# refuse FIRST-LINE ARGUMENTS...
refuse()
{
    local want=$1
    shift
    assert_status 2 run_client dcat "$@" > out 2> err
    assert_eq "$*: output" '' "$(cat out)"
    assert_eq "$*: first line" "$want" "$(head -n 1 err)"
    assert_contains err '^Usage of .*dcat:$'
}
refuse 'flag provided but not defined: -foo' --foo
refuse 'invalid value "x" for flag -cpc: parse error' --cpc x
refuse 'invalid boolean value "x" for -plain: parse error' --plain=x
refuse 'flag needs an argument: -files' --files
refuse 'bad flag syntax: ---plain' ---plain

# said WHAT STATUS ARGUMENTS...: a message without the usage.
said()
{
    local what=$1
    shift
    assert_status 2 run_client dcat "$@" f > out 2> err
    assert_contains err "$what"
    assert_lacks err '^Usage'
}
said 'turbo' --turbo=maybe
said 'exclude' --raw --escape
said 'port' --port 0
said 'port' --port 65536
said 'level' --logLevel loud
said 'logger' --logger printer
said 'No such server discovery module\|dns\|.*dns-srv' --discovery dns --servers x
said 'unable to parse discovery module "x:"' --discovery x:
said 'server "a b"' --servers 'a b'
said 'names no server' --servers ,

assert_status 0 "$dcat" -h > out 2> err
assert_contains err '^Usage of'
assert_contains err '^  -trustAllHosts$'
run_client dcat --version > out
assert_contains out '^DTail .* Protocol 4\.1 '
# Accepted, since wrapper scripts pass them.
assert_eq "profiling" text \
    "$(run_client dcat --profile --cpuprofile --memprofile --profiledir x \
        --pprof :1 --plain --quiet --noColor --no-auth-key f 2> err)"
assert_contains err 'pprof'
assert_contains err '^PROFILE\|dcat\|elapsed=.*\|bytes=5'
ls x/dcat_cpu_*.txt x/dcat_mem_*.txt > out
assert_eq "profile files" 2 "$(wc -l < out)"
