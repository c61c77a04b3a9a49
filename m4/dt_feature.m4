# SPDX-License-Identifier: Apache-2.0
# The table at the end of configure, and libraries that may be missing.

# DT_FEATURE(NAME, STATE): a row of the table.
AC_DEFUN([DT_FEATURE], [dnl
dt_features="$dt_features$(printf '  %-22s %s' "$1" "$2")
"])

# DT_SHOW_FEATURES: prints the table. Last thing in configure.ac.
AC_DEFUN([DT_SHOW_FEATURES], [dnl
AS_ECHO(["
$PACKAGE_STRING
$dt_features"])])

# DT_OPTIONAL(NAME, MODULE, WHAT): a library that is used when it is there,
# found with pkg-config: --with-NAME insists, --without-NAME leaves it out.
# Defines HAVE_<NAME> and the conditional of that name, and sets
# <NAME>_CFLAGS and <NAME>_LIBS.
AC_DEFUN([DT_OPTIONAL], [dnl
m4_pushdef([dt_up], m4_toupper([$1]))dnl
AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [do not use $2: $3])],
    [], [with_$1=check])
dt_have=no
AS_IF([test "x$with_$1" != xno],
    [PKG_CHECK_MODULES(dt_up, [$2], [dt_have=yes], [dt_have=missing])
    AS_IF([test "$dt_have$with_$1" = missingyes],
        [AC_MSG_ERROR([--with-$1 was given, but $2 was not found])])])
AS_IF([test "$dt_have" = yes],
    [AC_DEFINE([HAVE_]dt_up, [1], [$2 is there: $3])],
    [dt_up[]_CFLAGS= dt_up[]_LIBS=])
AM_CONDITIONAL([HAVE_]dt_up, [test "$dt_have" = yes])
DT_FEATURE([$2], [$dt_have ($3)])
m4_popdef([dt_up])dnl
])
