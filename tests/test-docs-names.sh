# SPDX-License-Identifier: Apache-2.0
# Every test that SECURITY.md names is there, and is one of make check's.
. ./functions.sh || exit 99

grep -oE '(core/|fuzz/)?(test|fuzz)-[a-z0-9-]+\.(sh|c)' \
    "$top_srcdir/SECURITY.md" | sort -u > names
[ "$(wc -l < names)" -gt 20 ] || fail 'SECURITY.md names no tests'
while read -r name; do
    case $name in
    core/*) file=$name list=core/Makefile.am ;;
    fuzz/*) file=tests/$name list=tests/fuzz/Makefile.am ;;
    *) file=tests/$name list=tests/Makefile.am ;;
    esac
    [ -f "$top_srcdir/$file" ] || fail "SECURITY.md names $file"
    name=${name##*/}
    grep -qE "(^|[ /=])${name%.c}([ \\]|\$)" "$top_srcdir/$list" ||
        fail "$list does not run $name"
done < names
