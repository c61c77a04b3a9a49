# SPDX-License-Identifier: Apache-2.0
# dserver.8 describes exactly the flags that dserver has.
. ./functions.sh || exit 99
requires_program dserver

"$(program_path dserver)" --help | sed -n 's/^  -\([A-Za-z-]*\).*/\1/p' |
    sort > has
sed -n '/^\.Ss Options/,/^\.Ss Keys/s/^\.It Fl -\([A-Za-z-]*\).*/\1/p' \
    "$top_srcdir/docs/dserver.8" | sort > described
[ -s has ] || fail "no flags found"
assert_same has described
