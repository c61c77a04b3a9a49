/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks for a passphrase on the terminal, before anything runs.
 *
 * Threads: the main thread, whose end signals are blocked.
 */
#ifndef CLIENTS_PROMPT_H
#define CLIENTS_PROMPT_H

#include "error.h"

/* Writes `text` to the terminal `tty` and reads a line without echo into `out`
 * (`cap` bytes with the NUL). DT_OK; DT_ERR_NOENT: there is no terminal;
 * DT_ERR_CANCELLED: a signal to end came, or the terminal's end. */
int prompt_passphrase(const char *tty, const char *text, char *out, size_t cap);

#endif
