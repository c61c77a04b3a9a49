# SPDX-License-Identifier: Apache-2.0
# mandoc finds nothing to complain about in any manual page.
. ./functions.sh || exit 99
requires mandoc

find "$top_srcdir/docs" "$top_srcdir/plugins" "$top_srcdir/clients" \
    -name '*.[1578]' -type f | sort > pages
[ -s pages ] || fail "no manual page found"
xargs mandoc -Tlint -Wstyle < pages > lint || true
# mandoc knows only systems' own sections and dates.
grep -vE 'STYLE: (referenced manual not found|operating system explicitly)' \
    lint > complaints || true
[ ! -s complaints ] || fail "$(head -n 20 complaints)"
