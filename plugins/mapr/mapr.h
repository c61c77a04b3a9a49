/* SPDX-License-Identifier: Apache-2.0
 *
 * What the two stages of the plugin share.
 */
#ifndef MAPR_MAPR_H
#define MAPR_MAPR_H

#include "language.h"
#include "plan.h"
#include "settings.h"

extern const struct dt_stage mapr_map, mapr_reduce;

/* Set by load, const afterwards. */
const struct settings *mapr_settings(void);

/* The query of an instance: text, plan. */
struct mapr_query {
    struct language_query *q;
    struct plan *plan;
};

/* Reads the argument `query` and compiles it; tells errors with dt_error. */
int mapr_query_init(struct mapr_query *m, struct dt_query *host);
void mapr_query_fini(struct mapr_query *m);

/* The value of an argument that is "yes" or "no". */
bool mapr_flag(struct dt_query *host, const char *name, bool otherwise);
/* A number; `otherwise` when it is missing or out of 0 … 1,000,000. */
int64_t mapr_count(struct dt_query *host, const char *name, int64_t otherwise);
/* Bytes an instance may use. */
size_t mapr_budget(struct dt_query *host);
/* The full name of the machine, or what DTAIL_HOSTNAME_OVERRIDE says. */
void mapr_host_name(char *out, size_t size);

#endif
