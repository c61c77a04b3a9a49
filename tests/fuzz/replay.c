/* SPDX-License-Identifier: Apache-2.0
 *
 * A plain main around a fuzz harness: hands it each file of the folders (or
 * each of the files) that are its arguments; without any, its seed corpus.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* 0, or 1 after a message. */
static int
replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    uint8_t *data;
    size_t len;

    if (!file || fstat(fileno(file), &st) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        if (file) {
            fclose(file);
        }
        return 1;
    }
    /* exactly as long as the file, so that a sanitizer sees each overrun */
    data = malloc(st.st_size ? (size_t)st.st_size : 1);
    len = data ? fread(data, 1, (size_t)st.st_size, file) : 0;
    fclose(file);
    if (!data || len != (size_t)st.st_size) {
        fprintf(stderr, "%s: not read\n", path);
        free(data);
        return 1;
    }
    LLVMFuzzerTestOneInput(data, len);
    free(data);
    return 0;
}

/* Replays a file or all files of a folder and counts them. */
static int
replay(const char *path, unsigned *nr)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int rc = 0;

    if (!dir) {
        ++*nr;
        return replay_file(path);
    }
    while ((entry = readdir(dir))) {
        char *name;

        if (entry->d_name[0] == '.') {
            continue;
        }
        if (asprintf(&name, "%s/%s", path, entry->d_name) < 0) {
            rc = 1;
            break;
        }
        ++*nr;
        rc |= replay_file(name);
        free(name);
    }
    closedir(dir);
    return rc;
}

int
main(int argc, char **argv)
{
    unsigned nr = 0;
    int rc = 0;

    if (argc < 2) {
        rc = replay(CORPUS, &nr);
    }
    for (int i = 1; i < argc; i++) {
        rc |= replay(argv[i], &nr);
    }
    printf("%u inputs replayed\n", nr);
    return rc || nr == 0;
}
