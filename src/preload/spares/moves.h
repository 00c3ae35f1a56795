/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_modify_qp(), ibv_query_qp() and ibv_destroy_qp() in a process that may have spares. Can be
 * called from any thread, with no lock held.
 */
#pragma once

#include <infiniband/verbs.h>

int wv_spares_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int wv_spares_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		       struct ibv_qp_init_attr *init);
int wv_spares_destroy_qp(struct ibv_qp *qp);
