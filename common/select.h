/* SPDX-License-Identifier: Apache-2.0
 *
 * Selecting lines: the two stages that the plugins grep and tail share.
 *
 * map gives out the lines that the patterns select, with their context, or,
 * with `count`, how many they are. Neighbouring lines leave as one run.
 * Arguments, each as bytes (select_arg_specs):
 *
 *   regex            lines must match it; Go's syntax. None, empty, "." and
 *                    ".*" are every line, "." with `invert` the empty ones
 *   and, not         repeated: must match these, must not match those
 *   invert           the other lines
 *   ignore-case, fixed
 *   before, after, max   numbers of lines; 0 or less: not wanted
 *   count            numbers only; before and after then mean nothing
 *
 * Flags are given when their value is neither "0", "no" nor "false".
 *
 * Counts are partial results, format SELECT_PARTIAL_FORMAT: records of
 *
 *     0  u64  lines            big-endian
 *     8  u32  length of the host's name
 *    12  u32  length of the shown name
 *    16  u32  length of the path
 *    20       host, shown name, path
 *
 * of which several instances may write some for the same source. reduce adds
 * them up by host and path, and prints a line `host:name:count` for each, in
 * this order; sources without a selected line have count 0.
 *
 * Threads: as the hooks of plugins; there is no state but the instances'.
 */
#ifndef COMMON_SELECT_H
#define COMMON_SELECT_H

#include <dtail/plugin.h>

#define SELECT_PARTIAL_FORMAT 1u
#define SELECT_MAX_NAME 8192u      /* bytes of a host, name or path */
#define SELECT_MAX_COUNTS 1000000u /* records in one query */

extern const struct dt_stage select_map;
extern const struct dt_stage select_reduce;
extern const struct dt_arg_spec select_arg_specs[];

#endif
