/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives memory back that only the start needed.
 */
#include "trim.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Code that was changed while it was loaded is not the file's any more. */
static bool
has_text_relocations(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const ElfW(Dyn) *d = (const ElfW(Dyn) *)(info->dlpi_addr + p->p_vaddr);

        if (p->p_type != PT_DYNAMIC) {
            continue;
        }
        for (; d->d_tag != DT_NULL; d++) {
            if (d->d_tag == DT_TEXTREL ||
                (d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL))) {
                return true;
            }
        }
    }
    return false;
}

/* One loaded object: its segments that are never written are the file's own
 * pages, so nothing is lost. */
static int
trim_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
    uintptr_t page = *(const uintptr_t *)ctx;

    (void)size;
    if (has_text_relocations(info)) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        uintptr_t end = begin + p->p_memsz;

        if (p->p_type != PT_LOAD || (p->p_flags & PF_W)) {
            continue;
        }
        begin &= ~(page - 1);
        end &= ~(page - 1); /* a last page that is shared stays */
        if (begin < end) {
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
        }
    }
    return 0;
}

void
trim_memory(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    malloc_trim(0);
    dl_iterate_phdr(trim_object, &page);
}
