/* SPDX-License-Identifier: Apache-2.0
 *
 * Discovery by DNS SRV records (RFC 2782): all targets, whatever their priority
 * and weight, since all are to be asked.
 */
#include "discovery.h"

#include "cleanup.h"

#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>

/* priority, weight, port, target */
#define SRV_PORT 4
#define SRV_TARGET 6

/* One record; anything else than SRV (the CNAME on the way) is passed over. */
static int
take_record(const ns_msg *msg, const ns_rr *record, discovery_take_fn *take,
            void *ctx, struct error *err)
{
    const unsigned char *data = ns_rr_rdata(*record);
    char item[NS_MAXDNAME + 8], target[NS_MAXDNAME];
    int len;

    if (ns_rr_type(*record) != ns_t_srv || ns_rr_rdlen(*record) <= SRV_TARGET) {
        return DT_OK;
    }
    if (ns_name_uncompress(ns_msg_base(*msg), ns_msg_end(*msg),
                           data + SRV_TARGET, target, sizeof(target)) < 0) {
        return error_set(err, DT_ERR_PROTO, "a target cannot be read");
    }
    if (!*target || strcmp(target, ".") == 0) {
        return DT_OK; /* "decidedly not available" */
    }
    len = snprintf(item, sizeof(item), "%s:%u", target,
                   ns_get16(data + SRV_PORT));
    return take(ctx, item, (size_t)len, err);
}

int
discovery_srv_answer(const char *name, const unsigned char *message, size_t len,
                     discovery_take_fn *take, void *ctx, struct error *err)
{
    ns_msg msg;
    int rc = DT_OK;

    if (len > NS_MAXMSG || ns_initparse(message, (int)len, &msg) != 0) {
        rc = error_set(err, DT_ERR_PROTO, "the answer cannot be read");
    }
    for (int i = 0; rc == DT_OK && i < ns_msg_count(msg, ns_s_an); i++) {
        ns_rr record;

        rc = ns_parserr(&msg, ns_s_an, i, &record) == 0
                 ? take_record(&msg, &record, take, ctx, err)
                 : error_set(err, DT_ERR_PROTO, "a record cannot be read");
    }
    if (rc != DT_OK) {
        error_prefix(err, "SRV records of %s", name);
    }
    return rc;
}

static int
no_answer(const char *name, int why, struct error *err)
{
    return error_set(err, DT_ERR_NOENT, "SRV records of %s: %s", name,
                     why == HOST_NOT_FOUND ? "there is no such name"
                     : why == NO_DATA      ? "the name has none"
                     : why == TRY_AGAIN
                         ? "no answer from the name server; try again"
                         : "the name server does not answer that");
}

int
discovery_srv(const char *name, discovery_take_fn *take, void *ctx,
              struct error *err)
{
    CLEANUP_FREE unsigned char *answer = malloc(NS_MAXMSG);
    struct __res_state state = {0};
    int len, why, rc;

    if (!answer || res_ninit(&state) != 0) {
        return error_set(err, DT_ERR_NOMEM, "SRV records: out of memory");
    }
    len = res_nsearch(&state, name, ns_c_in, ns_t_srv, answer, NS_MAXMSG);
    why = state.res_h_errno;
    res_nclose(&state);
    if (len < 0) {
        return no_answer(name, why, err);
    }
    rc = discovery_srv_answer(name, answer,
                              (size_t)(len < NS_MAXMSG ? len : NS_MAXMSG), take,
                              ctx, err);
    return rc;
}
