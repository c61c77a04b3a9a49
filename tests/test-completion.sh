# SPDX-License-Identifier: Apache-2.0
# The completions of bash, zsh and fish offer the flags that --help shows, all
# of them and no others, and the words of those that take a word.
. ./functions.sh || exit 99

flags() # PROGRAM
{
    {
        "$(program_path "$1")" --help 2>&1 |
            sed -n 's/^  -\([A-Za-z-]*\).*/--\1/p'
        echo --help
    } | sort
}

generate() # SHELL NAME
{
    "$top_srcdir/scripts/completion" "$1" "$2" "$(program_path "$2")"
}

# What bash offers behind the words of a command line.
bash_offers() # NAME WORDS...
{
    local COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "_$1"
    printf '%s\n' "${COMPREPLY[@]}"
}

for name in dtailhealth dcat dgrep dmap drun dtail; do
    flags "$name" > want
    [ "$name" = dtailhealth ] || [ "$(wc -l < want)" -gt 20 ] ||
        fail "$name: few flags"
    generate bash "$name" > "$name.bash"
    . "./$name.bash"
    bash_offers "$name" -- | sort > got
    assert_same want got
    word=color values='always auto never' # and two that begin alike
    [ "$name" != dtailhealth ] || word=logger values='file fout none'
    bash_offers "$name" --$word "${values:0:1}" | sort > got
    echo "${values% *}" | tr ' ' '\n' > want-words
    assert_same want-words got
    bash_offers "$name" --$word = n > got
    echo "${values##* }" > want-words
    assert_same want-words got
    generate zsh "$name" | sed -n "s/^    '\(--[A-Za-z-]*\).*/\1/p" |
        sort > got
    assert_same want got
    generate fish "$name" | sed -n 's/^complete .* -l \([A-Za-z-]*\).*/--\1/p' |
        sort > got
    assert_same want got
    if command -v zsh > /dev/null; then
        generate zsh "$name" > "_$name"
        zsh -n "_$name" || fail "zsh: _$name"
    fi
    if command -v fish > /dev/null; then
        generate fish "$name" > "$name.fish"
        XDG_DATA_HOME=$T fish -c "source $name.fish; complete -C '$name --'" |
            cut -f 1 | grep '^--' | sed 's/=$//' | sort -u > got
        assert_same want got
    fi
done
bash_offers dmap --output "" | sort > got
printf '%s\n' csv json ndjson table > want
assert_same want got
bash_offers dcat --output "" | sort > got
printf '%s\n' default ndjson plain > want
assert_same want got
