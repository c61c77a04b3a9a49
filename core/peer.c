/* SPDX-License-Identifier: Apache-2.0
 *
 * Is the client still there?
 *
 * TCP's keepalive probes a connection that is idle. While data are under way
 * it is silent, and the kernel's retransmissions give up after a quarter of
 * an hour; TCP_USER_TIMEOUT would end them sooner, but kills clients with a
 * closed window too. So TCP_INFO decides then: unanswered retransmissions, or
 * no acknowledgement for longer than the kernel spaces its window probes.
 */
#include "peer.h"
#include "clock.h"

#include <libssh/server.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define UNANSWERED 3      /* intervals without an acknowledgement */
#define PROBES_MS 150000u /* window probes are at most 120 s apart */

void
peer_init(struct peer *p, ssh_session ssh, int fd, int keepalive_seconds)
{
    int on = 1, idle = keepalive_seconds, count = UNANSWERED;
    int interval = keepalive_seconds > 3 ? keepalive_seconds / 3 : 1;

    *p = (struct peer){.ssh = ssh, .fd = fd};
    if (keepalive_seconds <= 0) {
        return;
    }
    p->interval_ms = (int64_t)keepalive_seconds * 1000;
    p->heard_ms = clock_now_ms();
    p->next_ms = p->heard_ms + p->interval_ms;
    /* Not TCP (a test's socketpair): then the other end's death is seen. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

static bool
tcp_is_dead(const struct peer *p)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);

    if (getsockopt(p->fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0) {
        return false;
    }
    if (info.tcpi_unacked > 0 && info.tcpi_retransmits > 0 &&
        info.tcpi_last_ack_recv >= UNANSWERED * p->interval_ms) {
        return true;
    }
    return (info.tcpi_unacked > 0 || info.tcpi_probes > 0) &&
           info.tcpi_last_ack_recv >= PROBES_MS;
}

bool
peer_is_gone(struct peer *p, const struct ssh_counter_struct *sock,
             int64_t now_ms, bool is_stuck)
{
    if (p->interval_ms == 0 || now_ms < p->next_ms) {
        return false;
    }
    p->next_ms = now_ms + p->interval_ms;
    if (sock->in_bytes != p->in_bytes) {
        p->in_bytes = sock->in_bytes;
        p->heard_ms = now_ms;
        return false;
    }
    if (now_ms - p->heard_ms >= UNANSWERED * p->interval_ms && tcp_is_dead(p)) {
        return true;
    }
    if (!is_stuck) {
        ssh_send_keepalive(p->ssh);
    }
    return false;
}

int64_t
peer_next_ms(const struct peer *p)
{
    return p->interval_ms ? p->next_ms : CLOCK_NEVER;
}
