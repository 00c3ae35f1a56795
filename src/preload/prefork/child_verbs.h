/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs that create, move, query and destroy objects of tracked contexts. Call with no lock
 * held.
 */
#pragma once

#include "preload/prefork/child.h"

/*
 * Whether @context is tracked. Stores the provider's own functions of a tracked context in *@ops,
 * which may be NULL.
 */
bool wv_child_ops(const struct ibv_context *context, struct wv_context_ops *ops);

/* Whether @context is tracked: its verbs are those below. */
static inline bool wv_child_has(const struct ibv_context *context)
{
	return wv_child_is_tracking() && wv_child_ops(context, NULL);
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

/*
 * The caller is about to destroy @object of @context: destroys the unclaimed objects of the set
 * that use it. Returns the index of @object for the second function, which takes it back after an
 * error.
 */
uint16_t wv_child_forget(const struct ibv_context *context, const void *object);
void wv_child_remember(const struct ibv_context *context, void *object, uint16_t index);
