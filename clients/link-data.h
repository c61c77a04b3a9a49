/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a running link, both ways. Used by link.c only.
 */
#ifndef CLIENTS_LINK_DATA_H
#define CLIENTS_LINK_DATA_H

#include "link.h"

/* Registers what libssh is to tell of the channel. */
void link_data_watch(struct link *l);
/* LINK_RUNNING and LINK_ENDING: sends and reads what goes now. True: there is
 * more to do at once. */
bool link_data_step(struct link *l);

#endif
