/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fuzz harnesses share.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* One input. libFuzzer calls it, or replay.c; the answer is always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Ends the program, which is how a fuzzer learns of a broken promise. */
#define fuzz_require(condition)                                               \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, \
                    #condition);                                              \
            abort();                                                          \
        }                                                                     \
    } while (0)

#endif
