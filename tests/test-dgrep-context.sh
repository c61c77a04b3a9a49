# SPDX-License-Identifier: Apache-2.0
# dgrep: --before, --after and --max by the table of the specification.
. ./functions.sh || exit 99
requires_plugin grep

for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    case $i in
    3 | 4 | 8 | 11) echo "$i X" ;;
    *) echo "$i" ;;
    esac
done > lines
chmod 644 lines

expect() # LINES DGREP-ARGUMENTS...
{
    local want=$1 got
    shift
    run_client dgrep --plain --regex X "$@" "$T/lines" > out 2> err
    got=$(cut -d ' ' -f 1 out | tr '\n' ' ')
    assert_eq "dgrep $*" "$want" "${got% }"
}

check()
{
    expect '1 2 3 4 5 6 7 8 9 10 11 12' --before 2 --after 1
    expect '1 2 3 4 6 7 8 9 10 11' --before 2
    expect '3 4 5 6 8 9 10 11 12' --after 2
    expect '3' --max 1
    expect '3' --max 1 --after 3
    expect '3 4 5' --max 2 --after 1
    expect '2 3 4 5 6 7' --max 2 --after 3 --before 1
    expect '2 3 4 7 8' --max 3 --before 1
    expect '1 2 4 5 6 7 8 9 10 11 12' --invert --before 1
    expect '1 2 3 4' --invert --max 2 --after 2
    # --max counts for each file
    run_client dgrep --plain --regex X --max 1 "$T/lines" "$T/lines" > out
    assert_eq 'two files' '2' "$(wc -l < out)"
}
run_both_ways check
