# SPDX-License-Identifier: Apache-2.0
# What decides the bytes that a build gives.

# DT_BUILD: --enable-lto. Sets BUILD_CFLAGS (compiling) and BUILD_LDFLAGS
# (linking).
AC_DEFUN([DT_BUILD], [dnl
AC_ARG_ENABLE([lto],
    [AS_HELP_STRING([--enable-lto], [optimise over all files when linking])],
    [], [enable_lto=no])
BUILD_CFLAGS= BUILD_LDFLAGS=
AS_IF([test "$enable_lto" != no],
    [DT_CFLAG([BUILD_CFLAGS], [-flto=auto])
    BUILD_LDFLAGS="$BUILD_LDFLAGS -flto=auto -fuse-linker-plugin"])
# Other paths, same bytes: scripts/reproducible-check.
DT_CFLAG([dt_prefix_map], [-ffile-prefix-map=/nowhere=.])
AS_IF([test -n "$dt_prefix_map"],
    [BUILD_CFLAGS="$BUILD_CFLAGS -ffile-prefix-map=\$(abs_top_builddir)=."
    BUILD_CFLAGS="$BUILD_CFLAGS -ffile-prefix-map=\$(abs_top_srcdir)=."])
AC_SUBST([BUILD_CFLAGS])
AC_SUBST([BUILD_LDFLAGS])
DT_FEATURE([link-time], [$enable_lto (--enable-lto)])
])
