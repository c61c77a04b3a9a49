/* SPDX-License-Identifier: Apache-2.0
 *
 * Which hook of which plugin runs in this thread, for the crash handler
 * (plugin_catch_crashes in plugin.h).
 */
#ifndef CORE_PLUGIN_CRASH_H
#define CORE_PLUGIN_CRASH_H

/* Around each call into a plugin. Both strings must live until plugin_leave.
 * The first call in a thread gives it a signal stack, so that an overflow of
 * its own stack can be told; that needs plugin_catch_crashes before it. */
void plugin_enter(const char *plugin, const char *hook);
void plugin_leave(void);

#endif
