/* SPDX-License-Identifier: Apache-2.0
 *
 * Packs what an instance emits into frames: small runs of lines that follow
 * one another become one frame, big ones go out without being copied.
 *
 * Threads: one at a time.
 */
#ifndef CORE_PACKER_H
#define CORE_PACKER_H

#include "order.h"

struct packer {
    struct outq *queue;
    struct order *order;
    const struct cancel *cancel;
    uint64_t seq;   /* of the unit whose output this is */
    bool has_turn;  /* may write to the queue itself */
    struct buf out; /* encoded frames; the last may still grow */
    bool is_open;
    size_t open_at; /* of the open frame's header in out */
    struct wire_frame open;
    size_t state_at; /* of the STATE payload in front of it, … */
    size_t state_len;
};

void packer_init(struct packer *p, struct outq *queue, struct order *order,
                 const struct cancel *cancel);
void packer_fini(struct packer *p);

/* What follows belongs to unit `seq`. */
void packer_begin(struct packer *p, uint64_t seq);
/* Hands what is held to the order; the unit is done. */
int packer_end(struct packer *p);
/* Nobody else writes any more: every time is the turn. */
void packer_alone(struct packer *p);

/* Appends a frame; wait and fail as outq_push. The payload is copied or
 * written before they return. */
int packer_frame(struct packer *p, const struct wire_frame *f);
/* The same for LINES, which may join the frame before. `state` (or NULL): of
 * the plugin behind these lines; a STATE frame in front of them tells it. */
int packer_lines(struct packer *p, const struct wire_frame *f,
                 const void *state, size_t state_len);
/* Sends what is held; only with the turn. */
int packer_push(struct packer *p);
/* Makes visible what was sent and, with the turn, what is held. */
int packer_show(struct packer *p);

#endif
