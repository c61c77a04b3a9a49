# SPDX-License-Identifier: Apache-2.0
# --help, the manual page and the completion of each client, and those of
# dserver, agree: the same flags, of which the same take a value. A client's
# page may leave to dcat.1 what dcat has as well; dserver has no completion.
. ./functions.sh || exit 99

# Lines "name value" or "name -", from the table of options by --help …
flags() # PROGRAM
{
    "$(program_path "$1")" --help 2>&1 |
        sed -nE 's/^  -([A-Za-z-]+)( .*)?$/\1 \2/p' |
        awk '{ print $1, (NF > 1 ? "value" : "-") }' | sort
}

# … from the manual …
described() # PAGE
{
    sed -nE 's/^\.It Fl -([A-Za-z-]+)( Ar .*)?$/\1 \2/p' "$1" |
        awk '{ print $1, (NF > 1 ? "value" : "-") }' | sort
}

# … and from the completion of fish, which says what takes a value.
completed() # PROGRAM
{
    "$top_srcdir/scripts/completion" fish "$1" "$(program_path "$1")" |
        sed -nE "/^complete/s/ -d '([^']|[\\]'|'[\\])*'( |$)/ /p" |
        awk '{
            name = ""; value = "-"
            for (i = 1; i <= NF; i++) {
                if ($i == "-l") name = $(i + 1)
                if ($i == "-r" || $i == "-x") value = "value"
            }
            if (name != "help") print name, value
        }' | sort
}

flags dcat > common
[ "$(wc -l < common)" -gt 20 ] || fail "no flags found"
for page in "$top_srcdir"/docs/*.1; do
    name=$(basename "$page" .1)
    flags "$name" > has
    described "$page" > described
    completed "$name" > completed
    assert_same has completed
    if [ "$name" = dcat ]; then
        assert_same has described
        continue
    fi
    comm -13 has described > wrong
    comm -23 has common | comm -23 - described > missing
    [ ! -s wrong ] || fail "$name.1 has -$(head -n 1 wrong), $name has not"
    [ ! -s missing ] || fail "$name.1 lacks -$(head -n 1 missing)"
done

requires_program dserver
flags dserver > has
sed -n '/^\.Ss Options/,/^\.Ss Keys/p' "$top_srcdir/docs/dserver.8" > options
described options > described
[ -s has ] || fail "no flags of dserver found"
assert_same has described
