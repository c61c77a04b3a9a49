# SPDX-License-Identifier: Apache-2.0
# Numbers and places of each released plugin ABI are still what compiled
# plugins have built in: tests/abi/layout-N.c asserts them at compile time.
. ./functions.sh || exit 99
requires cc

nr=0
for layout in "$top_srcdir"/tests/abi/layout-*.c; do
    cc -std=c11 -Wall -Wextra -Werror -I"$top_srcdir/include" \
        -fsyntax-only "$layout" 2> errors || fail "$layout: $(cat errors)"
    nr=$((nr + 1))
done
[ "$nr" -gt 0 ] || fail "no tests/abi/layout-*.c"

# The check can fail: a member before the others moves them all.
mkdir -p moved/dtail
sed 's/^struct dt_block {/&\n    void *before_all;/' \
    "$top_srcdir/include/dtail/plugin.h" > moved/dtail/plugin.h
! cc -std=c11 -Imoved -fsyntax-only "$top_srcdir/tests/abi/layout-1.c" \
    2> errors || fail "a moved member was not noticed"
assert_contains errors 'dt_block\.size'
