/* SPDX-License-Identifier: Apache-2.0
 *
 * Base64 (RFC 4648 section 4), strict: padded, canonical, no white space.
 * Thread-safe; no allocation.
 */
#ifndef COMMON_BASE64_H
#define COMMON_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the text for `len` bytes, without a NUL. len is at most
 * SIZE_MAX / 2. */
size_t base64_encoded_len(size_t len);
/* Writes base64_encoded_len(len) bytes to `out`. */
void base64_encode(char *out, const void *data, size_t len);

/* An upper bound of the bytes that `len` bytes of text stand for. */
size_t base64_decoded_max(size_t len);
/* Writes at most base64_decoded_max(len) bytes to `out` and tells how many in
 * *out_len. False: the text is not base64. */
bool base64_decode(void *out, size_t *out_len, const char *text, size_t len);

#endif
