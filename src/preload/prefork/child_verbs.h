/*
 * The verbs that make, move, look at and destroy objects of tracked contexts. Call with no lock
 * held.
 */
#pragma once

#include "preload/prefork/set.h"

/*
 * Carries out @verb, which names the objects @on, in @context: takes the object from its set, with
 * what making it answered in *@made, or has it made by @real(@args). NULL: @real said so, with
 * errno; *@made is left alone where @real was called.
 */
void *wv_child_make(struct ibv_context *context, struct wv_verb *verb, const void *const on[WV_ON],
		    void *(*real)(void *args), void *args, struct wv_made *made);

/* ibv_modify_qp() and ibv_query_qp(). */
int wv_child_move(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int wv_child_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init);

/* Destroys @object of @context by @real; before it, what the set has that uses it. */
int wv_child_destroy(struct ibv_context *context, void *object, int (*real)(void *object));

/* The functions behind a tracked context; false: it is not tracked. */
bool wv_child_ops(const struct ibv_context *context, struct wv_context_ops *ops);
