# SPDX-License-Identifier: Apache-2.0
# Plugins that were compiled with the frozen header of their ABI run in the
# current server and clients, and give what the current ones give.
. ./functions.sh || exit 99
requires cc
requires_program dserver drun dcat
requires_plugin cat
hello=$top_builddir/tests/plugins/.libs/dt-hello.so
[ -f "$hello" ] || fail "make check at the top builds tests/plugins"
frozen=$top_srcdir/tests/abi/1

mkdir -p old new/plugins
for name in hello cat; do
    cc -std=c99 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -fPIC -shared \
        -fvisibility=hidden -I"$frozen" -o "old/dt-$name.so" \
        "$frozen/$name.c" 2> errors || fail "$name.c: $(cat errors)"
done
cp "$hello" "$top_builddir/plugins/cat/.libs/dt-cat.so" new/plugins
chmod 755 old old/*.so new/plugins new/plugins/*.so

# The check can fail: the frozen header is not the current one by another name.
grep -q '^#define DT_PLUGIN_ABI 1$' "$frozen/dtail/plugin.h"
! cmp -s "$frozen/dtail/plugin.h" "$top_srcdir/include/dtail/plugin.h" ||
    echo 'the header has not changed since it was frozen'

genlog log 30000 > log
genlog log 17 > small
chmod 644 log small
commands() # NAME
{
    export DTAIL_PLUGIN_DIR

    run_client drun hello --files "$T/log,$T/small" > "$1-hello"
    run_client dcat --plain --files "$T/log" > "$1-plain"
    run_client dcat --files "$T/small" > "$1-lines"
    run_client drun --list > "$1-list"
}
# The clients have either, so that what comes from an old plugin on one side is
# read by a new one on the other.
check()
{
    local name
    DTAIL_PLUGIN_DIR=$T/new/plugins commands new
    DTAIL_PLUGIN_DIR=$T/old commands old
    for name in hello plain lines; do
        [ -e "want-$name" ] || cp "new-$name" "want-$name"
        assert_same "want-$name" "new-$name"
        assert_same "want-$name" "old-$name"
    done
    assert_same log new-plain
    assert_contains new-hello small
    assert_lacks old-list refused
}

# Servers with the new ones, then with the old ones; clients with either.
stage_server
for set in new/plugins old; do
    rm -f "$PLUGIN_DIR"/*.so
    cp "$set"/dt-*.so "$PLUGIN_DIR"
    run_both_ways check
done
