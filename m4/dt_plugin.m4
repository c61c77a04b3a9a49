# SPDX-License-Identifier: Apache-2.0
# The plugins of the tree: one name each in configure.ac.

# DT_PLUGIN(NAME): the folder plugins/NAME becomes part of the build, with
# --disable-NAME to leave it out. Sets PLUGIN_DIRS (built) and
# ALL_PLUGIN_DIRS (distributed).
AC_DEFUN([DT_PLUGIN], [dnl
AC_ARG_ENABLE([$1],
    [AS_HELP_STRING([--disable-$1], [leave out the plugin $1])],
    [], [AS_VAR_SET([enable_$1], [yes])])
AS_VAR_IF([enable_$1], [no],
    [DT_FEATURE([plugin $1], [no (--disable-$1)])],
    [PLUGIN_DIRS="$PLUGIN_DIRS $1"
    DT_FEATURE([plugin $1], [yes])])
ALL_PLUGIN_DIRS="$ALL_PLUGIN_DIRS $1"
AM_CONDITIONAL([ENABLE_PLUGIN_]m4_toupper([$1]),
    [AS_VAR_TEST_SET([enable_$1]) && test "$enable_$1" != no])
AC_CONFIG_FILES([plugins/$1/Makefile])dnl
])

# DT_PLUGINS(NAMES): DT_PLUGIN for each name of a list.
AC_DEFUN([DT_PLUGINS], [dnl
m4_foreach_w([dt_name], [$1], [DT_PLUGIN(m4_defn([dt_name]))
])dnl
AC_SUBST([PLUGIN_DIRS])dnl
AC_SUBST([ALL_PLUGIN_DIRS])dnl
])
