# Flags shared by all folders.
AM_CPPFLAGS = -I$(top_srcdir)/include -I$(top_srcdir)/common \
    -I$(top_srcdir)/core -include $(top_builddir)/autoconf.h
AM_CFLAGS = -std=gnu11 $(DT_WARNINGS)
plugin_ldflags = -module -avoid-version -shared \
    -Wl,--version-script=$(top_srcdir)/plugins/plugins.syms
