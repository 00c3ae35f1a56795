/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RC queue pairs that are connected to themselves, for which one process and one device suffice, or
 * to each other.
 */
#pragma once

#include <infiniband/verbs.h>

struct loopback {
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
};

/* Asks the kernel for the address that queue pairs of @context connect to. */
void loopback_init(struct loopback *loopback, struct ibv_context *context, int gid_index);

/* What a queue pair must know of its peer. */
struct peer {
	union ibv_gid gid;
	uint32_t qp_num;
	uint16_t lid;
};

struct peer peer_of(const struct ibv_qp *qp, const struct loopback *loopback);

void modify_to_init(struct ibv_qp *qp);
void modify_to_rtr(struct ibv_qp *qp, const struct loopback *loopback);
/* Connects to another queue pair; @own is what loopback_init() found. */
void modify_to_rtr_with(struct ibv_qp *qp, const struct loopback *own, const struct peer *peer);
void modify_to_rts(struct ibv_qp *qp);

/* Waits for @n successful completions. */
void await_completions(struct ibv_cq *cq, int n);
