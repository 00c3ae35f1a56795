/*
 * A set: the objects of a script, as this process has them, and what its owner has claimed of it.
 * Pure: no verb is called here, and the caller guards both.
 *
 * While a script is learned its set grows with it.
 */
#pragma once

#include "preload/prefork/script.h"
#include "preload/prefork/set_resources.h"

/* One object, and what making it answered beside. */
struct wv_made {
	void *object; /* NULL: a move, or destroyed */
	union {
		struct ibv_qp_cap cap;
		struct ibv_srq_attr srq;
	};
};

/* The functions of a context that inline verbs call, as the provider set them. */
struct wv_context_ops {
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *, struct ibv_cq_init_attr_ex *);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *, struct ibv_srq_init_attr_ex *);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
};

struct wv_set {
	struct wv_script *script;
	uint32_t n; /* verbs that have been carried out */
	struct wv_context_ops ops;
	struct wv_resources resources;
	struct wv_made made[]; /* as many as it was made for */
};

/*
 * Of a set, by index. Apart from it, because each page that a child writes to is copied for it
 * first.
 */
struct wv_claims {
	uint32_t first; /* none before it is unclaimed */
	uint64_t claimed[WV_SCRIPT_VERBS / 64];
	uint64_t put_back[WV_SCRIPT_VERBS / 64]; /* queue pairs, and their moves, taken back */
};

static inline struct ibv_context *wv_set_context(const struct wv_set *set)
{
	return set->made[0].object;
}

/* Where @object is in the set: WV_NO_OBJECT for NULL, WV_FOREIGN_OBJECT if it is not there. */
uint16_t wv_set_find(const struct wv_set *set, const void *object);

/*
 * Takes what @verb makes: the first unclaimed that equals it. NULL if there is none. Moves of a
 * queue pair are taken in their order.
 */
struct wv_made *wv_set_claim(struct wv_set *set, struct wv_claims *claims,
			     const struct wv_verb *verb);

/* Learns that @verb has made @object; with @verb of the set's own script, that it was carried out.
 * NULL if the script is full, or the verb is about foreign objects. */
struct wv_made *wv_set_append(struct wv_set *set, const struct wv_verb *verb, void *object);

/* Ends the unclaimed moves of the queue pair at @qp; whether there were any. */
bool wv_set_end_moves(const struct wv_set *set, struct wv_claims *claims, uint16_t qp);

/* The next claimed move of the queue pair from @i on, or set->n. */
uint32_t wv_set_next_move(const struct wv_set *set, const struct wv_claims *claims, uint16_t qp,
			  uint32_t i);

/* The last unclaimed object that names the one at @index, or WV_NO_OBJECT. */
uint16_t wv_set_dependent(const struct wv_set *set, const struct wv_claims *claims, uint16_t index);

/* The last unclaimed object of all, or WV_NO_OBJECT. */
uint16_t wv_set_last_unclaimed(const struct wv_set *set, const struct wv_claims *claims);
