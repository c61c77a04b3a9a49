# SPDX-License-Identifier: Apache-2.0
# dcat without servers and files reads standard input; with servers it says
# that files are missing.
. ./functions.sh || exit 99
genlog log 1000 > log

for turbo in yes no; do
    run_client dcat --plain --turbo=$turbo < log > out
    assert_same log out
    # shellcheck disable=SC2002 # a pipe is what is wanted
    cat log | run_client dcat --plain --turbo=$turbo - > out
    assert_same log out
    run_client dcat --plain --turbo=$turbo < /dev/null > out
    assert_eq "/dev/null" '' "$(cat out)"
    printf 'one\ntwo' | run_client dcat --turbo=$turbo |
        sed 's/^REMOTE|[^|]*|//' > out
    assert_eq "heads" $'100|1|-|one\n100|2|-|two' "$(cat out)"
done
assert_status 2 run_client dcat --servers 127.0.0.1:1 2> err
assert_contains err 'no files'
