/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set: the objects that this process created by a script, and what the owner has claimed of them.
 * No verb is called here, and the caller guards the set and its claims.
 *
 * While a script is learned, its set grows with it.
 */
#pragma once

#include "preload/core/script.h"
#include "preload/prefork/set_resources.h"

/* One object, and what the verb that created it returned besides. */
struct wv_made {
	void *object; /* NULL: the verb is a move, or the object is destroyed */
	union {
		struct ibv_qp_cap cap;
		struct ibv_srq_attr srq;
	};
};

/* The functions of a context that inline verbs call, as the provider set them. */
#define WV_CONTEXT_OPS(OP)                                                                         \
	OP(create_cq_ex, struct ibv_cq_ex, struct ibv_cq_init_attr_ex)                             \
	OP(create_srq_ex, struct ibv_srq, struct ibv_srq_init_attr_ex)                             \
	OP(create_qp_ex, struct ibv_qp, struct ibv_qp_init_attr_ex)                                \
	OP(create_wq, struct ibv_wq, struct ibv_wq_init_attr)                                      \
	OP(create_rwq_ind_table, struct ibv_rwq_ind_table, struct ibv_rwq_ind_table_init_attr)     \
	OP(alloc_dm, struct ibv_dm, struct ibv_alloc_dm_attr)                                      \
	OP(alloc_td, struct ibv_td, struct ibv_td_init_attr)                                       \
	OP(alloc_parent_domain, struct ibv_pd, struct ibv_parent_domain_init_attr)                 \
	OP(open_xrcd, struct ibv_xrcd, struct ibv_xrcd_init_attr)

#define WV_CONTEXT_OP(name, type, attr) type *(*name)(struct ibv_context *, attr *);
struct wv_context_ops {
	WV_CONTEXT_OPS(WV_CONTEXT_OP)
};

struct wv_set {
	struct wv_script *script;
	uint32_t n;  /* verbs that have been carried out */
	bool is_own; /* its maker will use it, and waits for a lease as a program does */
	struct wv_context_ops ops;
	struct wv_resources resources;
	struct wv_made made[]; /* as many as wv_set_new() was asked for */
};

/*
 * What the owner of a set has claimed, by index. This is not in the set itself, because a child
 * copies each page that it writes to.
 */
struct wv_claims {
	uint32_t first; /* all before this index are claimed */
	uint64_t claimed[WV_SCRIPT_VERBS / 64];
	uint64_t put_back[WV_SCRIPT_VERBS / 64]; /* queue pairs put back, and moves undone */
};

static inline struct ibv_context *wv_set_context(const struct wv_set *set)
{
	return set->made[0].object;
}

/* The index of @object: WV_NO_OBJECT for NULL, WV_FOREIGN_OBJECT if the set does not hold it. */
uint16_t wv_set_find(const struct wv_set *set, const void *object);

/*
 * Claims the first unclaimed object (or move) whose verb equals @verb. NULL if there is none. Moves
 * of a queue pair are claimed in their order.
 */
struct wv_made *wv_set_claim(struct wv_set *set, struct wv_claims *claims,
			     const struct wv_verb *verb);

/*
 * Notes that @verb has created @object, or, if @verb is the next of the set's own script, that it
 * was carried out. NULL if the script is full or @verb uses foreign objects.
 */
struct wv_made *wv_set_append(struct wv_set *set, const struct wv_verb *verb, void *object);

/* Marks the unclaimed moves of the queue pair at @qp as undone. Returns whether there were any. */
bool wv_set_end_moves(const struct wv_set *set, struct wv_claims *claims, uint16_t qp);

/* The next claimed move of the queue pair from @i on, or set->n. */
uint32_t wv_set_next_move(const struct wv_set *set, const struct wv_claims *claims, uint16_t qp,
			  uint32_t i);

/*
 * The last unclaimed object that uses the one at @used (WV_NO_OBJECT: the last of all), or
 * WV_NO_OBJECT.
 */
uint16_t wv_set_last_unclaimed(const struct wv_set *set, const struct wv_claims *claims,
			       uint16_t used);
