/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs that create, move, query and destroy objects of tracked contexts. Call with no lock
 * held.
 */
#pragma once

#include "preload/prefork/tracked_context.h"

bool wv_child_has_locked(const struct ibv_context *context);

/* Whether @context is tracked: its verbs are those below. */
static inline bool wv_child_has(const struct ibv_context *context)
{
	return wv_child_is_tracking() && wv_child_has_locked(context);
}

/*
 * The object that @verb, which uses the objects @on, creates in @context, from the set; stores in
 * *@made what creating it returned. NULL: the caller must create it, and note that it has.
 */
void *wv_child_claim(struct ibv_context *context, struct wv_verb *verb, const void *const on[WV_ON],
		     struct wv_made *made);

/* The caller has carried out @verb, and got @object (NULL: an error). Returns @object. */
void *wv_child_note(struct ibv_context *context, struct wv_verb *verb, const void *const on[WV_ON],
		    void *object);

/* ibv_modify_qp() and ibv_query_qp(). */
int wv_child_move(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int wv_child_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init);

/* Destroys @object of @context with @real, after the unclaimed objects of the set that use it. */
int wv_child_destroy(struct ibv_context *context, void *object, int (*real)(void *object));

/* The provider's own functions of a tracked context. False: it is not tracked. */
bool wv_child_ops(const struct ibv_context *context, struct wv_context_ops *ops);
