# SPDX-License-Identifier: Apache-2.0
# The manual page of each client describes the flags that it has and no others;
# it may leave those to dcat.1 that dcat has as well.
. ./functions.sh || exit 99

flags() # PROGRAM
{
    "$(program_path "$1")" --help 2>&1 | sed -n 's/^  -\([A-Za-z-]*\).*/\1/p' |
        sort
}

flags dcat > common
[ -s common ] || fail "no flags found"
for page in "$top_srcdir"/docs/*.1; do
    name=$(basename "$page" .1)
    flags "$name" > has
    sed -n 's/^\.It Fl -\([A-Za-z-]*\).*/\1/p' "$page" | sort > described
    if [ "$name" = dcat ]; then
        assert_same has described
        continue
    fi
    comm -13 has described > wrong
    comm -23 has common | comm -23 - described > missing
    [ ! -s wrong ] || fail "$name has no -$(head -n 1 wrong)"
    [ ! -s missing ] || fail "$name.1 lacks -$(head -n 1 missing)"
done
