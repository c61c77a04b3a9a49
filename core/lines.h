/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes to whole lines no longer than MaxLineLength: the only splitter.
 *
 * The rule (spec reading 5): while the content of a line is longer than `max`
 * bytes, a piece of exactly `max` bytes is cut off; it is a line of its own,
 * without newline and flagged DT_BLOCK_CUT.
 */
#ifndef CORE_LINES_H
#define CORE_LINES_H

#include <dtail/plugin.h>

/* Offset of the first line whose content is longer than `max`; `len` when
 * there is none. `data` begins at a line start. Costs a look per `max` bytes.
 */
size_t lines_find_long(const char *data, size_t len, size_t max);

/* How much of `data` can be handed on as whole lines, and with which flags,
 * when more bytes may follow (`is_end` false) or none (true). Returns 0 when
 * more bytes are needed first. *flags gets DT_BLOCK_NOEOL or DT_BLOCK_CUT. */
size_t lines_take(const char *data, size_t len, size_t max, bool is_end,
                  uint32_t *flags);

/* Steps through a run of whole lines (as lines_take gives it) by pieces that
 * keep to `max`: *piece_len and *piece_flags describe the next piece at
 * `data`. False when len is 0. */
bool lines_piece(const char *data, size_t len, uint32_t run_flags, size_t max,
                 size_t *piece_len, uint32_t *piece_flags);

/* How many lines (pieces counted each) a run is. */
uint64_t lines_count(const char *data, size_t len, uint32_t run_flags,
                     size_t max);

#endif
