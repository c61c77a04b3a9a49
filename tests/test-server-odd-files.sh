# SPDX-License-Identifier: Apache-2.0
# Files of settings and keys that are no regular files, and a limit of open
# files that does for nothing, are errors that say so; nobody waits at a FIFO.
. ./functions.sh || exit 99
requires_program dserver

server=$(program_path dserver)
mkfifo fifo
mkdir folder
write_config() # HOST-KEY-FILE
{
    cat > dtail.json <<JSON
{"Server": {"SSHBindAddress": "127.0.0.1", "HostKeyFile": "$T/$1"}}
JSON
}

# refused WORD ARGUMENTS...: ends at once, with status 2 and an error with WORD.
refused()
{
    local word=$1
    shift
    assert_status 2 timeout -k 10 "$LIMIT" "${wrapper[@]}" "$server" \
        --logger none --port 0 "$@" > out 2>&1
    assert_contains out "$word"
    assert_eq "lines of the error of $*" 1 "$(wc -l < out)"
}

for odd in fifo folder; do
    refused "configuration file $odd: not a regular file" --cfg $odd
    refused "configuration file $odd: not a regular file" --cfg $odd \
        --check-config
    write_config $odd
    refused "host key $T/$odd: not a regular file" --cfg dtail.json
done
if program_path dcat > /dev/null; then
    assert_status 2 timeout -k 10 "$LIMIT" "$(program_path dcat)" \
        --cfg fifo --files /dev/null 2> err
    assert_contains err 'configuration file fifo: not a regular file'
fi

# The limit is named, and not what happened to fail first.
write_config key
if [ ${#wrapper[@]} -eq 0 ]; then
    for n in 16 32 63; do
        (ulimit -n $n && refused "open files .* is $n, at least 64" \
            --cfg dtail.json)
    done
fi
