# SPDX-License-Identifier: Apache-2.0
# Hardening flags (on by default) and sanitizers (off by default).

# DT_HARDENING: --disable-hardening. Sets HARDEN_CPPFLAGS, HARDEN_CFLAGS,
# HARDEN_LDFLAGS (programs and plugins), PIE_LDFLAGS (programs) and
# PLUGIN_LDFLAGS (plugins). After DT_SANITIZERS.
AC_DEFUN([DT_HARDENING], [dnl
AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening],
        [no stack protector, fortified calls, RELRO, PIE and the like])],
    [], [enable_hardening=yes])
HARDEN_CPPFLAGS= HARDEN_CFLAGS= HARDEN_LDFLAGS= PIE_LDFLAGS= PLUGIN_LDFLAGS=
AS_IF([test "$enable_hardening" != no],
    [DT_CFLAG([HARDEN_CFLAGS], [-fstack-protector-strong])
    DT_CFLAG([HARDEN_CFLAGS], [-fstack-clash-protection])
    DT_CFLAG([HARDEN_CFLAGS], [-fcf-protection])
    DT_CFLAG([HARDEN_CFLAGS], [-fPIE])
    DT_LDFLAG([PIE_LDFLAGS], [-pie])
    DT_LDFLAG([HARDEN_LDFLAGS], [-Wl,-z,relro])
    DT_LDFLAG([HARDEN_LDFLAGS], [-Wl,-z,now])
    DT_LDFLAG([HARDEN_LDFLAGS], [-Wl,-z,noexecstack])
    AS_IF([test -z "$SANITIZER_FLAGS"],
        [AC_CACHE_CHECK([whether the build optimises], [dt_cv_optimises],
            [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __OPTIMIZE__
#error no optimisation: fortified calls would only warn
#endif
int dt_dummy;]])], [dt_cv_optimises=yes], [dt_cv_optimises=no])])
        AS_IF([test "$dt_cv_optimises" = yes],
            [HARDEN_CPPFLAGS="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"])])
    dt_hardening="yes:$HARDEN_CFLAGS $HARDEN_CPPFLAGS$PIE_LDFLAGS$HARDEN_LDFLAGS"
    ],
    [dt_hardening="no (--disable-hardening)"])
# A plugin with an undefined symbol is found when it is linked; a sanitizer's
# run-time library is only there in the program.
AS_IF([test -z "$SANITIZER_FLAGS"],
    [DT_LDFLAG([PLUGIN_LDFLAGS], [-Wl,-z,defs])])
AC_SUBST([HARDEN_CPPFLAGS])
AC_SUBST([HARDEN_CFLAGS])
AC_SUBST([HARDEN_LDFLAGS])
AC_SUBST([PIE_LDFLAGS])
AC_SUBST([PLUGIN_LDFLAGS])
DT_FEATURE([hardening], [$dt_hardening])
])

# DT_SANITIZERS: --enable-asan (with UBSan), --enable-tsan, --enable-fuzzing
# (clang). Sets SANITIZER_FLAGS and FUZZ_LDFLAGS.
AC_DEFUN([DT_SANITIZERS], [dnl
AC_ARG_ENABLE([asan],
    [AS_HELP_STRING([--enable-asan], [AddressSanitizer and UBSan])],
    [], [enable_asan=no])
AC_ARG_ENABLE([tsan], [AS_HELP_STRING([--enable-tsan], [ThreadSanitizer])],
    [], [enable_tsan=no])
AC_ARG_ENABLE([fuzzing],
    [AS_HELP_STRING([--enable-fuzzing],
        [build tests/fuzz with libFuzzer, needs CC=clang])],
    [], [enable_fuzzing=no])
SANITIZER_FLAGS= FUZZ_LDFLAGS= dt_sanitizers=
dt_undefined="-fsanitize=undefined -fno-sanitize-recover=undefined"
AS_IF([test "$enable_asan" != no && test "$enable_tsan" != no],
    [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
AS_IF([test "$enable_fuzzing" != no],
    [SANITIZER_FLAGS="-fsanitize=fuzzer-no-link"
    FUZZ_LDFLAGS="-fsanitize=fuzzer"
    dt_sanitizers=" fuzzer"
    AS_IF([test "$enable_tsan" = no], [enable_asan=yes])])
AS_IF([test "$enable_asan" != no],
    [SANITIZER_FLAGS="$SANITIZER_FLAGS -fsanitize=address $dt_undefined"
    dt_sanitizers="$dt_sanitizers address undefined"])
AS_IF([test "$enable_tsan" != no],
    [SANITIZER_FLAGS="$SANITIZER_FLAGS -fsanitize=thread"
    dt_sanitizers="$dt_sanitizers thread"])
AS_IF([test -n "$SANITIZER_FLAGS"],
    [SANITIZER_FLAGS="$SANITIZER_FLAGS -fno-omit-frame-pointer"
    dt_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZER_FLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [],
        [AC_MSG_ERROR([$CC cannot link with$dt_sanitizers sanitizers])])
    CFLAGS=$dt_saved_cflags])
AC_SUBST([SANITIZER_FLAGS])
AC_SUBST([FUZZ_LDFLAGS])
AM_CONDITIONAL([FUZZING], [test "$enable_fuzzing" != no])
AM_CONDITIONAL([SANITIZED], [test -n "$SANITIZER_FLAGS"])
DT_FEATURE([sanitizers], [${dt_sanitizers:-none}])
])
