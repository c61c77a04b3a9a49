/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugin ABI 1 as it was first released: numbers and places that compiled
 * plugins have built in. Only what is appended to the header may be added
 * here; a line that fails to compile means that old plugins break.
 */
#include <dtail/plugin.h>

#define VALUE(name, value) _Static_assert((name) == (value), #name)
#define AT(type, member, place) \
    _Static_assert(offsetof(struct type, member) == (place), #type "." #member)
/* The ones without a size of their own cannot even grow. */
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)

VALUE(DT_PLUGIN_ABI, 1);
VALUE(DT_OK, 0);
VALUE(DT_AGAIN, 1);
VALUE(DT_STOP, 2);
VALUE(DT_ERR_NOMEM, -1);
VALUE(DT_ERR_INVAL, -2);
VALUE(DT_ERR_ACCES, -3);
VALUE(DT_ERR_NOENT, -4);
VALUE(DT_ERR_IO, -5);
VALUE(DT_ERR_PROTO, -6);
VALUE(DT_ERR_LIMIT, -7);
VALUE(DT_ERR_CANCELLED, -8);
VALUE(DT_ERR_ABI, -9);
VALUE(DT_ERR_INTERNAL, -10);
VALUE(DT_TURBO, 1);
VALUE(DT_PARALLEL, 2);
VALUE(DT_FOLLOW, 4);
VALUE(DT_COMBINE, 8);
VALUE(DT_NUMBERS, 16);
VALUE(DT_VERBATIM, 32);
VALUE(DT_PRINTED, 64);
VALUE(DT_DRAIN_FINAL, 0);
VALUE(DT_DRAIN_INTERVAL, 1);
VALUE(DT_ROLE_MAP, 0);
VALUE(DT_ROLE_REDUCE, 1);
VALUE(DT_ROLE_COMBINE, 2);
VALUE(DT_LOG_ERROR, 0);
VALUE(DT_LOG_WARN, 1);
VALUE(DT_LOG_INFO, 2);
VALUE(DT_LOG_DEBUG, 3);
VALUE(DT_BLOCK_LINE, 1);
VALUE(DT_BLOCK_NOEOL, 2);
VALUE(DT_BLOCK_CUT, 4);
VALUE(DT_BLOCK_FIRST, 8);
VALUE(DT_BLOCK_LAST, 16);
VALUE(DT_BLOCK_PARTIAL, 32);
VALUE(DT_ARG_REPEAT, 1);
VALUE(DT_ARG_REQUIRED, 2);

#if UINTPTR_MAX == UINT64_MAX /* places where pointers have 64 bits */
AT(dt_block, size, 0);
AT(dt_block, source, 8);
AT(dt_block, flags, 12);
AT(dt_block, data, 16);
AT(dt_block, len, 24);
AT(dt_block, first_line, 32);
AT(dt_block, nr_lines, 40);
AT(dt_block, offset, 48);
AT(dt_block, sequence, 56);
AT(dt_lines, size, 0);
AT(dt_lines, source, 8);
AT(dt_lines, flags, 12);
AT(dt_lines, first_line, 16);
AT(dt_lines, nr_lines, 24);
AT(dt_lines, offset, 32);
AT(dt_lines, data, 40);
AT(dt_lines, len, 48);
AT(dt_source, size, 0);
AT(dt_source, name, 8);
AT(dt_source, path, 16);
AT(dt_source, host, 24);
AT(dt_query, host, 0);
AT(dt_host, size, 0);
AT(dt_host, emit_lines, 8);
AT(dt_host, emit_partial, 16);
AT(dt_host, emit_text, 24);
AT(dt_host, note, 32);
AT(dt_host, error, 40);
AT(dt_host, log, 48);
AT(dt_host, arg, 56);
AT(dt_host, cancelled, 64);
AT(dt_host, source, 72);
AT(dt_host, role, 80);
AT(dt_host, ordered, 88);
AT(dt_host, line_at, 96);
AT(dt_stage, size, 0);
AT(dt_stage, start, 8);
AT(dt_stage, feed, 16);
AT(dt_stage, finish, 24);
AT(dt_stage, drain, 32);
AT(dt_stage, close, 40);
AT(dt_arg_spec, name, 0);
AT(dt_arg_spec, help, 8);
AT(dt_arg_spec, flags, 16);
AT(dt_arg_spec, spare, 20);
AT(dt_plugin, abi, 0);
AT(dt_plugin, flags, 4);
AT(dt_plugin, size, 8);
AT(dt_plugin, name, 16);
AT(dt_plugin, version, 24);
AT(dt_plugin, summary, 32);
AT(dt_plugin, usage, 40);
AT(dt_plugin, partial_format, 48);
AT(dt_plugin, spare, 52);
AT(dt_plugin, args, 56);
AT(dt_plugin, load, 64);
AT(dt_plugin, unload, 72);
AT(dt_plugin, map, 80);
AT(dt_plugin, reduce, 88);

SIZE(struct dt_arg_spec, 24);
#endif
