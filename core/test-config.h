/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the settings share; to be included behind cmocka.h.
 */
#ifndef CORE_TEST_CONFIG_H
#define CORE_TEST_CONFIG_H

#include "config.h"

#include "test-config-same.h"

#include <stdlib.h>

static inline struct config *
parse(const char *json)
{
    struct error err = ERROR_INIT;
    struct config *c = NULL;

    if (config_parse(json, strlen(json), "f", &c, &err) != DT_OK) {
        fail_msg("%s: %s", json, err.text);
    }
    return c;
}

static inline void
refuse(const char *json, const char *message)
{
    struct error err = ERROR_INIT;
    struct config *c = NULL;

    if (config_parse(json, strlen(json), "f", &c, &err) != DT_ERR_INVAL) {
        fail_msg("accepted: %s", json);
    }
    assert_null(c);
    assert_int_equal(err.status, DT_ERR_INVAL);
    if (strncmp(err.text, message, strlen(message)) != 0) {
        fail_msg("%s gave\n\"%s\" instead of\n\"%s\"", json, err.text, message);
    }
}

static inline char *
dump(const struct config *c)
{
    struct buf out = {0};

    assert_int_equal(config_dump(c, &out), DT_OK);
    assert_int_equal(buf_append(&out, "", 1), DT_OK);
    return out.data;
}

static inline void
assert_round_trip(const struct config *c)
{
    char *once = dump(c);
    struct config *back = parse(once);
    char *twice = dump(back);

    assert_string_equal(once, twice);
    assert_true(config_same("", c, back));
    config_free(back);
    free(once);
    free(twice);
}

/* A file below the top of the source. */
static inline char *
source_path(const char *name)
{
    const char *srcdir = getenv("srcdir");
    char *path = NULL;

    assert_true(asprintf(&path, "%s/../%s", srcdir ? srcdir : ".", name) > 0);
    return path;
}

#endif
