# SPDX-License-Identifier: Apache-2.0
# Probes for single compiler and linker flags.

# DT_CFLAG(VARIABLE, FLAG): appends FLAG when the compiler takes it.
AC_DEFUN([DT_CFLAG], [dnl
AS_VAR_PUSHDEF([cache], [dt_cv_cflag_$2])dnl
AC_CACHE_CHECK([whether $CC accepts $2], [cache],
    [dt_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
        [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
    CFLAGS=$dt_saved_cflags])
AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
AS_VAR_POPDEF([cache])dnl
])

# DT_LDFLAG(VARIABLE, FLAG): appends FLAG when the linker takes it.
AC_DEFUN([DT_LDFLAG], [dnl
AS_VAR_PUSHDEF([cache], [dt_cv_ldflag_$2])dnl
AC_CACHE_CHECK([whether the linker accepts $2], [cache],
    [dt_saved_ldflags=$LDFLAGS
    LDFLAGS="$LDFLAGS -Werror $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
    LDFLAGS=$dt_saved_ldflags])
AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
AS_VAR_POPDEF([cache])dnl
])
