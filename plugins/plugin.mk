# What each plugin's Makefile.am includes: an installed plugin is one file.
# libtool would put a .la file beside each, which nobody reads and which holds
# paths of the build; without it "make uninstall" does not find the .so.
include $(top_srcdir)/common.mk
install-data-hook:
	cd "$(DESTDIR)$(plugindir)" && rm -f $(plugin_LTLIBRARIES)
uninstall-hook:
	cd "$(DESTDIR)$(plugindir)" 2>/dev/null || exit 0; \
	    rm -f $(plugin_LTLIBRARIES:.la=.so)
