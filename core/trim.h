/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives memory back that only the start needed.
 */
#ifndef CORE_TRIM_H
#define CORE_TRIM_H

/* Returns free heap to the kernel, and takes the code and constants of all
 * loaded objects out of the resident set; what is used again comes back from
 * the page cache, page by page. Children lose nothing: fork does not copy the
 * page tables of such mappings. Any thread. */
void trim_memory(void);

#endif
