/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the command line: the input is the words, each ended by a NUL.
 */
#include "fuzz.h"
#include "options.h"

#define MAX_WORDS 64

struct opts {
    bool plain, color;
    int64_t max, cpc;
    const char *files;
    struct strv args;
};

static const struct option_spec table[] = {
    {"plain", OPTION_BOOL, offsetof(struct opts, plain), 0, NULL, "a"},
    {"c", OPTION_BOOL, offsetof(struct opts, color), 1, NULL, "b"},
    {"max", OPTION_INT, offsetof(struct opts, max), 0, NULL, "c"},
    {"cpc", OPTION_INT, offsetof(struct opts, cpc), 10, NULL, "d"},
    {"files", OPTION_STRING, offsetof(struct opts, files), 0, "x\n\"", "e"},
    {"arg", OPTION_LIST, offsetof(struct opts, args), 0, NULL, "f"},
    {NULL, OPTION_BOOL, 0, 0, NULL, NULL},
};

static void
check_usage(void)
{
    struct buf out = {0};

    fuzz_require(options_usage(table, "prog", &out) == DT_OK);
    fuzz_require(out.len > 0 && out.data[out.len - 1] == '\n');
    buf_fini(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char program[] = "prog";
    char *argv[MAX_WORDS + 2] = {program};
    char *text = malloc(len + 1);
    char **words;
    bool given[6];
    int argc = 1;
    size_t nr_words;
    struct opts o;
    struct error err = ERROR_INIT;
    enum option_result rc;

    fuzz_require(text);
    memcpy(text, data, len);
    text[len] = '\0';
    for (size_t at = 0; at < len && argc <= MAX_WORDS; argc++) {
        argv[argc] = text + at;
        at += strlen(text + at) + 1;
    }
    rc = options_parse(table, argc, argv, &o, given, &words, &nr_words, &err);
    if (rc == OPTIONS_OK) {
        fuzz_require(nr_words < (size_t)argc && !words[nr_words]);
        for (size_t i = 0; i < nr_words; i++) {
            fuzz_require(words[i] == argv[(size_t)argc - nr_words + i]);
        }
    } else {
        fuzz_require(!words && nr_words == 0);
        fuzz_require(rc == OPTIONS_HELP || *err.text);
    }
    fuzz_require(o.files);
    check_usage();
    options_fini(table, &o);
    free(words);
    free(text);
    return 0;
}
