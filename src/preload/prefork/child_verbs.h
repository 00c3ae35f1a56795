/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs that create, move, query and destroy objects of tracked contexts. Call with no lock
 * held.
 */
#pragma once

#include "preload/prefork/set.h"

/*
 * Carries out @verb, which uses the objects @on, in @context. Claims the object from the set, and
 * stores in *@made what creating it returned; or else calls @real(@args) and leaves *@made alone.
 * NULL: @real failed, and set errno.
 */
void *wv_child_make(struct ibv_context *context, struct wv_verb *verb, const void *const on[WV_ON],
		    void *(*real)(void *args), void *args, struct wv_made *made);

/* ibv_modify_qp() and ibv_query_qp(). */
int wv_child_move(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int wv_child_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init);

/* Destroys @object of @context with @real, after the unclaimed objects of the set that use it. */
int wv_child_destroy(struct ibv_context *context, void *object, int (*real)(void *object));

/* The provider's own functions of a tracked context. False: it is not tracked. */
bool wv_child_ops(const struct ibv_context *context, struct wv_context_ops *ops);
