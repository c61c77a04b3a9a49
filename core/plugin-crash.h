/* SPDX-License-Identifier: Apache-2.0
 *
 * Which hook of which plugin runs in this thread, for the crash handler
 * (plugin_catch_crashes in plugin.h).
 */
#ifndef CORE_PLUGIN_CRASH_H
#define CORE_PLUGIN_CRASH_H

struct plugin_mark {
    const char *plugin; /* NULL: none runs */
    const char *hook;
};

/* Around each call into a plugin; they nest, as when map emits into a reduce
 * stage of the same process. Both strings must live until plugin_leave. The
 * first call in a thread gives it a signal stack, so that an overflow of its
 * own stack can be told; that needs plugin_catch_crashes before it. */
struct plugin_mark plugin_enter(const char *plugin, const char *hook);
/* `before` is what plugin_enter returned. */
void plugin_leave(struct plugin_mark before);

#endif
