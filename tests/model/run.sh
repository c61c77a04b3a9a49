#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves the model with spin, and that seeded faults are found: run.sh [long]
#
# Fails if an error is found, if the states are not exhausted, if a step of
# the coordinator is never taken, or if a seeded fault goes unnoticed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
model=$here/dtail.pml
long=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

: "${CC:=cc}" # may have arguments
for tool in spin "${CC%% *}"; do
    command -v "$tool" >/dev/null || { echo "model: needs $tool" >&2; exit 1; }
done

# explore NAME "DEFINES" "PAN-FLAGS" "COMPILER-FLAGS": writes NAME.out.
explore()
{
    local name=$1
    mkdir "$name"
    # shellcheck disable=SC2086
    (cd "$name" && spin $2 -a "$model" > spin.out 2>&1 &&
        $CC -O2 -w -DNOREDUCE -DNFAIR=3 -DCOLLAPSE -DMEMLIM=8000 $4 \
            -o pan pan.c &&
        ./pan -m1000000 $3) > "$name.out" 2>&1 || true
}

# proves NAME DEFINES PAN-FLAGS COMPILER-FLAGS
proves()
{
    local start=$SECONDS
    explore "$@"
    if ! grep -q 'errors: 0$' "$1.out" ||
        grep -qE 'Search not completed|max search depth|out of memory|pan: (error|reached)|^error' "$1.out"; then
        echo "FAIL: $1 ($2)"
        grep -vE '^\s+(dtail|.*unreached)' "$1.out" | tail -n 25
        # shellcheck disable=SC2086
        if [ -f "$1/dtail.pml.trail" ]; then
            (cd "$1" && spin $2 -t -p -g -k dtail.pml.trail "$model" |
                tail -n 80)
        fi
        exit 1
    fi
    echo "proved: $1 ($2): $(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' \
        "$1.out") states, $((SECONDS - start)) s"
}

# finds NAME DEFINES PAN-FLAGS COMPILER-FLAGS: the fault must be found.
finds()
{
    explore "$@"
    if ! grep -qE 'errors: [1-9]' "$1.out"; then
        echo "FAIL: seeded fault not found: $1 ($2)"
        tail -n 25 "$1.out"
        exit 1
    fi
    echo "found: $1 ($2): $(sed -n 's/^pan:[0-9]*: \(.*\) (at.*/\1/p' \
        "$1.out" | head -n 1)"
}

safety="-DSAFETY -DNOCLAIM"
proves one-query "-DNQ=1 -DNEVENTS=2" "" "$safety"
# With one query and two events nothing of the model is dead text.
if grep -A1 '^unreached in proctype' one-query.out | grep -E '\([1-9][0-9]* of'; then
    grep -A9 '^unreached in proctype' one-query.out
    echo "FAIL: a part of the model is never reached"
    exit 1
fi
proves two-queries "-DNQ=2 -DNEVENTS=0 -DLEAN" "" "$safety"
proves rival "-DNQ=1 -DNEVENTS=1 -DLEAN -DWITH_RIVAL" "" "$safety"
proves query-ends "-DNQ=1 -DNEVENTS=1" "-a -f -N query_ends" ""
proves all-end "-DNQ=1 -DNEVENTS=1" "-a -f -N all_end" ""
proves rival-served "-DNQ=1 -DNEVENTS=1 -DLEAN -DWITH_RIVAL" \
    "-a -f -N all_end" ""
proves both-end "-DNQ=2 -DNEVENTS=0 -DLEAN" "-a -f -N query_ends" ""

finds finish-waits-for-itself "-DNQ=1 -DNEVENTS=0 -DSEED=1" "" "$safety"
finds end-before-drain "-DNQ=1 -DNEVENTS=0 -DSEED=2" "" "$safety"
finds finish-twice "-DNQ=1 -DNEVENTS=0 -DSEED=3" "" "$safety"
finds emit-ignores-cancel "-DNQ=1 -DNEVENTS=1 -DSEED=4" "" "$safety"
finds slot-lost-in-crash "-DNQ=1 -DNEVENTS=1 -DSEED=5 -DLEAN -DWITH_RIVAL" \
    "" "$safety"
finds endless-drain "-DNQ=1 -DNEVENTS=0 -DSEED=6" "-a -f -N query_ends" ""

if [ "$long" = long ]; then
    proves two-queries-event "-DNQ=2 -DNEVENTS=1 -DLEAN" "" "$safety"
    proves two-queries-full "-DNQ=2 -DNEVENTS=0" "" "$safety"
    proves query-ends-events "-DNQ=1 -DNEVENTS=2" "-a -f -N query_ends" ""
    proves all-end-events "-DNQ=1 -DNEVENTS=2" "-a -f -N all_end" ""
fi
