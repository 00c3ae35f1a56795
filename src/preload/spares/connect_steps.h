/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a program connects a queue pair: what it asks for with the moves to RTR and RTS. Plain data,
 * without padding: two steps are equal if their bytes are.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* One of the moves, without what names the peer. */
struct wv_connect_step {
	uint32_t mask;
	uint32_t access, pkey_index, mtu, max_dest_rd_atomic, min_rnr_timer;
	uint32_t timeout, retry_cnt, rnr_retry, max_rd_atomic;
	uint32_t flow_label, sgid_index, hop_limit, traffic_class;
	uint32_t dlid, sl, src_path_bits, static_rate, port;
};

struct wv_peer {
	uint8_t gid[16];
	uint32_t qp_num;
	uint32_t rq_psn, sq_psn; /* the first that the peer sends, and that it is sent */
};

struct wv_connection {
	struct wv_connect_step rtr, rts;
	struct wv_peer peer;
	/* The queue pair was created for a request that named its peer (requests.h). */
	bool by_request;
};

/*
 * Notes the move to RTR or RTS that ibv_modify_qp(@attr, @mask) asks for. False: it is another
 * move, or sets more than the usual, or the peer has no GID.
 */
bool wv_connection_set(struct wv_connection *c, const struct ibv_qp_attr *attr, int mask);

/* Fills in @attr for the move to RTR or RTS, and returns the mask. */
int wv_connection_get(const struct wv_connection *c, enum ibv_qp_state state,
		      struct ibv_qp_attr *attr);

/*
 * Whether two steps ask for the same, whoever the peer is. The flow label does not matter: it only
 * chooses among paths, and librdmacm's differ from connection to connection.
 */
bool wv_connect_steps_agree(const struct wv_connect_step *a, const struct wv_connect_step *b);
