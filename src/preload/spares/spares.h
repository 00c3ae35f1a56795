/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spares: queue pairs that are made ahead in a process that makes queue pairs of one kind again and
 * again, as a server does for its clients. No lease is needed. Where no spare fits, the genuine
 * verbs of libibverbs are called.
 *
 * Can be called from any thread, with no lock held.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* ibv_create_qp(). moves.h has the other verbs. */
struct ibv_qp *wv_spares_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/*
 * The program destroys @object, a PD, CQ, SRQ or context, or it lacks what spares take up (NULL):
 * gives back the spares that use it. Returns whether there were any.
 */
bool wv_spares_give_back(const void *object);
