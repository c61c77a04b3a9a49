# SPDX-License-Identifier: Apache-2.0
# Sourced after functions.sh by the tests of faults: tests/fault-shim.c says
# which there are.

shim=$top_builddir/tests/.libs/fault-shim.so
[ -f "$shim" ] || fail "make check builds $shim"
! grep -q '^SANITIZER_FLAGS = .*-fsanitize' "$top_builddir/tests/Makefile" ||
    skip "sanitizers and the preloaded shim both replace malloc"
[ -z "${DTAIL_TEST_WRAPPER:-}" ] || skip "needs programs without a wrapper"
# Where the server's account reaches it.
mkdir -p "$T/stage"
cp "$shim" "$T/stage/fault-shim.so"
chmod 755 "$T/stage" "$T/stage/fault-shim.so"

# with_faults NAME=VALUE...: in all programs that are started from now on.
with_faults()
{
    wrapper=(env "LD_PRELOAD=$T/stage/fault-shim.so" "FAULT_HIT=$T/hit" "$@")
    : > "$T/hit"
    chmod 666 "$T/hit"
}

without_faults()
{
    wrapper=()
}

# some_hit: a fault has happened since with_faults.
some_hit()
{
    [ -s "$T/hit" ] || fail "no fault happened: ${wrapper[*]}"
}
