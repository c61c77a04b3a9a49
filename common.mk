# Flags shared by all folders.
AM_CPPFLAGS = -I$(top_srcdir)/include -I$(top_srcdir)/common \
    -I$(top_srcdir)/core -include $(top_builddir)/autoconf.h \
    $(HARDEN_CPPFLAGS)
AM_CFLAGS = -std=gnu11 $(DT_WARNINGS) $(HARDEN_CFLAGS) $(SANITIZER_FLAGS) \
    $(BUILD_CFLAGS)
AM_CXXFLAGS = -Wall -Wextra $(HARDEN_CFLAGS) $(SANITIZER_FLAGS) \
    $(BUILD_CFLAGS)
# A test that hangs is a failure, not the end of all testing.
test_timeout = timeout -k 10 $${DTAIL_TEST_TIMEOUT:-900}
LOG_COMPILER = $(test_timeout)
# Programs.
AM_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS) $(SANITIZER_FLAGS) \
    $(BUILD_LDFLAGS)
# Plugins: dt_NAME_la_LDFLAGS = $(plugin_ldflags)
plugin_ldflags = -module -avoid-version -shared $(HARDEN_LDFLAGS) \
    $(PLUGIN_LDFLAGS) $(SANITIZER_FLAGS) $(BUILD_LDFLAGS) \
    -Wl,--version-script=$(top_srcdir)/plugins/plugins.syms
