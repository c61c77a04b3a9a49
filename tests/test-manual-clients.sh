# SPDX-License-Identifier: Apache-2.0
# dcat.1 describes exactly the flags that dcat has, the pages of the other
# clients exactly those that they have besides.
. ./functions.sh

flags() # PROGRAM
{
    "$(program_path "$1")" --help 2>&1 | sed -n 's/^  -\([A-Za-z-]*\).*/\1/p' |
        sort
}

described() # PROGRAM
{
    sed -n '/^\.Ss Options/,/^\.E[ls]$/s/^\.It Fl -\([A-Za-z-]*\).*/\1/p' \
        "$top_srcdir/docs/$1.1" | sort
}

flags dcat > common
[ -s common ] || fail "no flags found"
described dcat > described
assert_same common described
for page in "$top_srcdir"/docs/*.1; do
    name=$(basename "$page" .1)
    [ "$name" != dcat ] || continue
    flags "$name" | comm -23 - common > has
    described "$name" > described
    assert_same has described
done
