# SPDX-License-Identifier: Apache-2.0
# The sample plugin builds outside of the tree from nothing but the installed
# header and pkg-config, as C99 and as C++11, and what was built works.
. ./functions.sh || exit 99
compiler=${CC:-cc} # may have arguments
requires make pkg-config "${compiler%% *}"
program_path mock/test-hello >/dev/null || skip "needs cmocka"

# Only what a plugin needs; nothing of it is built again.
make -C "$top_builddir" --no-print-directory DESTDIR="$T/installed" \
    install-dtailincludeHEADERS install-pkgconfigDATA > install.out 2>&1 ||
    fail "make install: $(tail -n 5 install.out)"
pc=$(find "$T/installed" -name dtail-plugin.pc)
[ -n "$pc" ] || fail "dtail-plugin.pc is not installed"

mkdir outside
cp "$top_srcdir"/contrib/plugin-hello/{hello.c,Makefile} outside
chmod -R u+w outside
# PKG_CONFIG_LIBDIR, not _PATH: nothing else that is installed may help.
hello_make()
{
    env PKG_CONFIG_LIBDIR="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$T/installed" \
        PKG_CONFIG_DISABLE_UNINSTALLED=yes \
        make -C outside --no-print-directory "$@" > make.out 2>&1 ||
        fail "make $*: $(cat make.out)"
}

# built_works NAME.so: the unit test of the tree accepts it.
built_works()
{
    mkdir -p "$T/plugins"
    cp "outside/$1" "$T/plugins/dt-hello.so"
    chmod 755 "$T/plugins" "$T/plugins/dt-hello.so"
    TEST_HELLO_DIR=$T/plugins "$top_builddir/tests/mock/test-hello" \
        > hello.out 2>&1 || fail "$1: $(cat hello.out)"
}

strict="-O2 -Wall -Wextra -Wpedantic -Werror"
hello_make CFLAGS="-std=c99 -D_POSIX_C_SOURCE=200809L $strict"
built_works dt-hello.so
if command -v "${CXX:-c++}" >/dev/null; then
    hello_make dt-hello-cxx.so CXXFLAGS="-std=c++11 $strict"
    built_works dt-hello-cxx.so
fi

# make install puts it where the host looks.
env PKG_CONFIG_LIBDIR="${pc%/*}" PKG_CONFIG_DISABLE_UNINSTALLED=yes \
    make -C outside --no-print-directory install DESTDIR="$T/there" > make.out
so=$(find "$T/there" -name dt-hello.so)
assert_contains "$pc" '^plugindir='
[ -n "$so" ] || fail "make install has put no dt-hello.so anywhere"
case $so in
*/dtail/plugins/dt-hello.so) ;;
*) fail "make install has put it to $so" ;;
esac
