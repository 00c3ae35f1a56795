/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs for queue pairs that the program has not asked for, or not so: they go past the control
 * path (lease/aside.h).
 */
#pragma once

#include "preload/stock/shape.h"

/* Creates a queue pair of @key. NULL, and errno. */
struct ibv_qp *wv_aside_create_qp(const struct wv_qp_key *key, struct ibv_qp_cap *cap);

/* Return 0 or an errno value, as the verbs. */
int wv_aside_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int wv_aside_make_move(struct ibv_qp *qp, const struct wv_verb *move);
int wv_aside_destroy_qp(struct ibv_qp *qp);

/*
 * Destroys a queue pair by its handle, unseen by its provider, which may not know it. 0 or an errno
 * value.
 */
int wv_aside_end_qp(int fd, uint32_t handle);

/* The GID at @index of a port. 0 or an errno value. */
int wv_aside_query_gid(struct ibv_context *context, uint8_t port, int index, uint8_t gid[16]);
