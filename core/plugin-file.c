/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be checked of a plugin's file before any of its code runs, and
 * opening it.
 *
 * A checked file is opened a second time by dlopen. Nobody but its owner and
 * root can have swapped it in between, since file and directory are theirs.
 */
#include "plugin-file.h"
#include "buf.h"
#include "cleanup.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>

#define ENTRY "dt_plugin_entry"

static int
check_rights(const struct stat *st, const char *what, struct error *err)
{
    if (st->st_uid != 0 && st->st_uid != geteuid()) {
        return error_set(err, DT_ERR_ACCES,
                         "%s belongs to user %u; allowed are root and user %u",
                         what, (unsigned)st->st_uid, (unsigned)geteuid());
    }
    if (st->st_mode & (S_IWGRP | S_IWOTH)) {
        return error_set(err, DT_ERR_ACCES,
                         "%s is writable by others (mode %03o); only its owner "
                         "may write it",
                         what, (unsigned)st->st_mode & 0777);
    }
    return DT_OK;
}

int
plugin_file_check_dir(const char *dir, struct error *err)
{
    struct stat st;

    if (stat(dir, &st) < 0) {
        return error_errno(err, errno, "%s", dir);
    }
    if (!S_ISDIR(st.st_mode)) {
        return error_set(err, DT_ERR_INVAL, "%s is not a directory", dir);
    }
    return check_rights(&st, "its directory", err);
}

static bool
is_exported(const GElf_Sym *sym)
{
    unsigned bind = GELF_ST_BIND(sym->st_info);
    unsigned visibility = GELF_ST_VISIBILITY(sym->st_other);

    /* SHN_ABS: the name of a version node; neither code nor data */
    return bind != STB_LOCAL && sym->st_shndx != SHN_UNDEF &&
           sym->st_shndx != SHN_ABS &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

/* Older linkers export these from every shared object. */
static bool
is_linkers_own(const char *name)
{
    static const char *const names[] = {
        "_init",   "_fini",  "_edata", "_end",  "__bss_start",
        "__end__", "_etext", "etext",  "edata", "end"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int
check_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
              struct error *err)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t nr = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    bool has_entry = false;

    if (!data) {
        return error_set(err, DT_ERR_INVAL, "broken symbol table: %s",
                         elf_errmsg(-1));
    }
    if (nr > PLUGIN_FILE_MAX_SYMBOLS) {
        return error_set(err, DT_ERR_LIMIT,
                         "%zu dynamic symbols; at most %u are allowed", nr,
                         PLUGIN_FILE_MAX_SYMBOLS);
    }
    for (size_t i = 0; i < nr; i++) {
        GElf_Sym sym;
        const char *name;

        if (!gelf_getsym(data, (int)i, &sym)) {
            return error_set(err, DT_ERR_INVAL, "broken symbol table: %s",
                             elf_errmsg(-1));
        }
        if (!is_exported(&sym)) {
            continue;
        }
        name = elf_strptr(elf, header->sh_link, sym.st_name);
        if (name && strcmp(name, ENTRY) == 0) {
            has_entry = true;
        } else if (!name || !is_linkers_own(name)) {
            return error_set(err, DT_ERR_INVAL,
                             "exports the symbol %.100s; only " ENTRY
                             " is allowed (build with -fvisibility=hidden)",
                             name ? name : "without a name");
        }
    }
    return has_entry ? DT_OK
                     : error_set(err, DT_ERR_INVAL,
                                 "does not export " ENTRY
                                 " (DT_REGISTER_PLUGIN is missing)");
}

static int
check_elf(int fd, struct error *err)
{
    Elf_Scn *section = NULL;
    Elf *elf;
    int r = DT_ERR_NOENT;

    if (elf_version(EV_CURRENT) == EV_NONE) {
        return error_set(err, DT_ERR_INTERNAL, "libelf: %s", elf_errmsg(-1));
    }
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!elf) {
        return error_set(err, DT_ERR_INVAL, "cannot be read: %s",
                         elf_errmsg(-1));
    }
    if (elf_kind(elf) != ELF_K_ELF) {
        r = error_set(err, DT_ERR_INVAL, "is not a shared object");
    }
    while (r == DT_ERR_NOENT && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;

        if (!gelf_getshdr(section, &header)) {
            r = error_set(err, DT_ERR_INVAL, "broken section table: %s",
                          elf_errmsg(-1));
        } else if (header.sh_type == SHT_DYNSYM) {
            r = check_symbols(elf, section, &header, err);
        }
    }
    if (r == DT_ERR_NOENT) {
        r = error_set(err, DT_ERR_INVAL,
                      "is not a shared object with dynamic symbols");
    }
    elf_end(elf);
    return r;
}

int
plugin_file_check(const char *path, struct error *err)
{
    /* O_NONBLOCK: a fifo must not block the program */
    CLEANUP_FD int fd =
        open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    int r;

    if (fd < 0 && errno == ELOOP) {
        return error_set(err, DT_ERR_INVAL,
                         "is a symbolic link; only regular files are allowed");
    }
    if (fd < 0 || fstat(fd, &st) < 0) {
        return error_errno(err, errno, "cannot be opened");
    }
    if (!S_ISREG(st.st_mode)) {
        return error_set(err, DT_ERR_INVAL, "is not a regular file");
    }
    r = check_rights(&st, "the file", err);
    return r < 0 ? r : check_elf(fd, err);
}

/* glibc knows objects by the name they were opened with, before it looks at
 * the file: a path that was opened earlier gives the old object, though the
 * file was replaced. So the name says which file it is: for each bit of inode
 * and time of change, "./" or ".//" stands in front of the last part. */
static int
make_own_name(const char *path, struct buf *name, struct error *err)
{
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t dir_len = (size_t)(file - path);
    struct stat st;
    uint64_t key;
    int r;

    if (stat(path, &st) < 0) {
        return error_errno(err, errno, "cannot be opened");
    }
    key = (uint64_t)st.st_ino * 0x9e3779b97f4a7c15u ^
          ((uint64_t)st.st_ctim.tv_sec * 1000000000u +
           (uint64_t)st.st_ctim.tv_nsec);
    r = dir_len ? buf_append(name, path, dir_len) : buf_puts(name, "./");
    for (; r == DT_OK && key; key >>= 1) {
        r = buf_puts(name, key & 1 ? ".//" : "./");
    }
    if (r < 0 || (r = buf_puts(name, file)) < 0 ||
        (r = buf_append(name, "", 1)) < 0) {
        return error_set(err, r, "%s", dt_strerror(r));
    }
    return DT_OK;
}

int
plugin_file_open(const char *path, void **handle, struct error *err)
{
    struct buf name = {0};
    const char *why;
    int r = make_own_name(path, &name, err);

    if (r == DT_OK) {
        *handle = dlopen(name.data, RTLD_NOW | RTLD_LOCAL);
        if (!*handle) {
            why = dlerror();
            r = error_set(err, DT_ERR_INVAL, "%s", why ? why : "dlopen failed");
        }
    }
    buf_fini(&name);
    return r;
}
