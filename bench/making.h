/*
 * Queue pairs of the kinds that need no peer to be made ready, and the moves that make them so.
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
	struct ibv_qp *qp;
};

/* One kind of queue pair. It is ready when all its moves are made. */
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

/* NULL if there is none of that name. What the kind needs of the provider is loaded. */
const struct making_kind *making_find(const char *name);
/* All names, for usage texts. */
#define MAKING_NAMES "rc | ud | dci | dct"

/* Each gives up if it fails. */
void making_open(struct making *m, struct ibv_device **list);
struct ibv_cq *making_cq(const struct making *m);
struct ibv_srq *making_srq(const struct making *m);
void making_move(const struct making *m, const struct making_move *move);
