/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs of the kinds that become ready without a peer, and the moves that make them ready.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

#define MAKING_DC_KEY 73

struct making {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_cq *recv_cq; /* NULL: the same */
	struct ibv_srq *srq;	/* NULL if the kind has none */
	int gid_index;		/* of a DC target */
	struct ibv_qp *qp;
};

/* One kind of queue pair. It is ready after all its moves. */
struct making_kind {
	const char *name;
	bool has_srq, is_dc;
	struct ibv_qp *(*create)(const struct making *m);
	unsigned int n_moves;
	struct making_move {
		enum ibv_qp_state to;
		int mask;
	} moves[3];
};

/* NULL if no kind has that name. Loads the provider if the kind needs it. */
const struct making_kind *making_find(const char *name);
/* All names, for usage texts. */
#define MAKING_NAMES "rc | ud | dci | dct"

/* Each ends the program if it fails. */
/* The device of that name; NULL: the first. */
void making_open(struct making *m, struct ibv_device **list, const char *name);
struct ibv_cq *making_cq(const struct making *m);
struct ibv_srq *making_srq(const struct making *m);
void making_move(const struct making *m, const struct making_move *move);
