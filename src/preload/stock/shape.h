/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program says of a queue pair until it has a peer: the arguments of ibv_create_qp(3), and
 * the moves to INIT that follow. Plain data: two are equal if their bytes are.
 */
#pragma once

#include "preload/core/script.h"

#include <infiniband/verbs.h>

/* librdmacm moves a queue pair to INIT twice, with other access rights (rdma_accept(3)). */
#define WV_SHAPE_MOVES 2

struct wv_qp_key {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp_cap cap;
	uint32_t type; /* enum ibv_qp_type */
	uint32_t sq_sig_all;
	uint32_t unused;
};

struct wv_init_moves {
	uint32_t n;
	uint32_t unused;
	struct wv_verb all[WV_SHAPE_MOVES];
};

/* The key of a queue pair that is created with @attr, before the verb changes @attr. */
void wv_qp_key_set(struct wv_qp_key *key, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr);

/* Whether ibv_destroy_*() and the like of @object fail while a queue pair of this key exists. */
bool wv_qp_key_uses(const struct wv_qp_key *key, const void *object);

/*
 * Makes @verb the move that ibv_modify_qp(@attr, @mask) asks for. False if it is not one to INIT
 * that can be made ahead.
 */
bool wv_init_move_set(struct wv_verb *verb, const struct ibv_qp_attr *attr, int mask);
