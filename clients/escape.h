/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes bytes from other machines harmless on a terminal: control bytes are
 * shown, not obeyed.
 */
#ifndef CLIENTS_ESCAPE_H
#define CLIENTS_ESCAPE_H

#include "buf.h"

/* Appends `len` bytes with every control character (C0 but tab, DEL, C1) and
 * every byte that is not part of valid UTF-8 written as \xNN. `newlines`: a
 * newline, and a carriage return in front of one, stay as they are. DT_OK or
 * DT_ERR_NOMEM. Thread-safe. */
int escape_append(struct buf *out, const char *data, size_t len, bool newlines);

/* Length of the valid UTF-8 sequence at p, of at least two bytes; 0: there is
 * none. `left` > 0 bytes may be read. Thread-safe. */
size_t escape_utf8_len(const uint8_t *p, size_t left);

#endif
