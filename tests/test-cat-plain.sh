# SPDX-License-Identifier: Apache-2.0
# dcat --plain gives the file's bytes: any bytes, empty files, no last newline,
# lines beyond MaxLineLength, blank lines, CRLF, what legacy peers trip over.
. ./functions.sh || exit 99
requires_program dcat
requires_plugin cat

mkdir data
: > data/empty
printf '\n' > data/newline
printf 'no newline at the end' > data/cut
printf 'a\r\n\r\n.dot\n.syn close connection\nEUR \342\202\254 \254\n' > data/odd
head -c 300000 /dev/urandom > data/random
head -c 3000000 /dev/zero | tr '\0' 'x' > data/long
genlog log 50000 > data/log
# every border of the relay's blocks and of the readers
genlog log 4000 > lines
for n in 131031 131032 131033 262143 262144 262145; do
    head -c $n lines > data/size-$n
done

check_files()
{
    local file
    for file in data/*; do
        run_client dcat --plain --files "$T/$file" > out 2> client.err
        assert_same "$file" out
    done
}
run_both_ways check_files
