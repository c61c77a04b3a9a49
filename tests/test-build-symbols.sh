# SPDX-License-Identifier: Apache-2.0
# Each plugin exports dt_plugin_entry and nothing else, and links neither an
# SSH nor a JSON library.
. ./functions.sh || exit 99
requires nm readelf

nr=0
for so in "$top_builddir"/plugins/*/.libs/dt-*.so; do
    [ -f "$so" ] || continue
    nr=$((nr + 1))
    nm -D --defined-only "$so" | awk '{ print $NF }' > exported
    echo dt_plugin_entry > expected
    assert_same expected exported
    readelf -d "$so" > dynamic
    assert_contains dynamic 'NEEDED.*libc\.so'
    assert_lacks dynamic 'NEEDED.*(libssh|libjansson|libcrypto)'
done
[ "$nr" -gt 0 ] || fail "no plugin was built"
