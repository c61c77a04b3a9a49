/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be checked of a plugin's file before any of its code runs, and
 * opening it.
 */
#ifndef CORE_PLUGIN_FILE_H
#define CORE_PLUGIN_FILE_H

#include "error.h"

#define PLUGIN_FILE_MAX_SYMBOLS 65536u /* in the dynamic symbol table */

/* Checks a directory of plugins: owned by root or the effective user, and not
 * writable by others. DT_OK or DT_ERR_ACCES with the reason; DT_ERR_IO… when
 * it cannot be looked at. Folders above it are the administrator's matter. */
int plugin_file_check_dir(const char *dir, struct error *err);

/* Checks a file: regular and no symbolic link, owner and mode as above, and
 * dt_plugin_entry as its only exported dynamic symbol. Runs none of it. */
int plugin_file_check(const char *path, struct error *err);

/* dlopen of a file that was checked: all symbols at once, none shared with
 * others. Runs the object's constructors. A file that was replaced since an
 * earlier call gives the new object, also while the old one is still open. */
int plugin_file_open(const char *path, void **handle, struct error *err);

#endif
