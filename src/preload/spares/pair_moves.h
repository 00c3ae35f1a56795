/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_create_qp(), ibv_modify_qp(), ibv_query_qp() and ibv_destroy_qp() of a queue pair that is an
 * end of a pair. It is connected already, whatever the program knows.
 *
 * One thing decides what the program's move to RTR means, as on the other node: whether it names
 * the partner, and nobody has said that the partner is gone. If so, the PSNs of the pair are used,
 * even if the move goes to the kernel because the program asks for other attributes than before.
 *
 * Can be called from any thread, with no lock held.
 */
#pragma once

#include "preload/spares/requests.h"
#include "preload/spares/stock.h"

/*
 * Call with the lock of the stock held. @request: for which the queue pair is created. False: no
 * end is meant for the next queue pair of @key.
 */
bool wv_pair_take(const struct wv_qp_key *key, const struct wv_request *request,
		  struct wv_spare *spare);

/* Whether @qp is an end, so that these are its verbs: */
bool wv_pair_owns(const struct ibv_qp *qp);
int wv_pair_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int wv_pair_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		     struct ibv_qp_init_attr *init);
int wv_pair_destroy_qp(struct ibv_qp *qp);

/*
 * Around fork(2). A child may connect what the program has made for it, so that is put back to what
 * the program knows of it.
 */
void wv_pairs_before_fork(void);
void wv_pairs_after_fork(void);
