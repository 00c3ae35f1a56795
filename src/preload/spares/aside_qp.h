/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs for queue pairs that the program has not asked for, or not so: they go past the control
 * path (lease/aside.h).
 */
#pragma once

#include "preload/spares/shape.h"

struct wv_ring;

/* Creates a queue pair of @key, and notes in *@ring where its receives are. NULL, and errno. */
struct ibv_qp *wv_aside_create_qp(const struct wv_qp_key *key, struct ibv_qp_cap *cap,
				  struct wv_ring *ring);

/* Return 0 or an errno value, as the verbs. */
int wv_aside_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int wv_aside_make_move(struct ibv_qp *qp, const struct wv_verb *move);
int wv_aside_destroy_qp(struct ibv_qp *qp);

/*
 * Moves @qp to RESET, unseen by its provider: what the program has posted stays in queues that are
 * the program's memory.
 */
int wv_aside_reset_qp(const struct ibv_qp *qp);

/* The PSN that @qp expects next. 0 or an errno value. */
int wv_aside_query_rq_psn(struct ibv_qp *qp, uint32_t *psn);

/* The GID at @index of a port. 0 or an errno value. */
int wv_aside_query_gid(struct ibv_context *context, uint8_t port, int index, uint8_t gid[16]);
