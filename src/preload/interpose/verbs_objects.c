/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs that create, move, query and destroy objects, interposed for sets, scripts and spares.
 * In any other process, each is a test or two and a call of libibverbs' own verb.
 */
#include "base/base.h"
#include "preload/core/real.h"
#include "preload/prefork/child.h"
#include "preload/prefork/child_verbs.h"
#include "preload/spares/moves.h"
#include "preload/spares/spares.h"

#include <errno.h>

/* Returns early if there is no libibverbs, which cannot happen in a program that calls a verb. */
#define REAL_OR(nothing, verbs)                                                                    \
	const struct wv_real *real = verbs;                                                        \
	if (!real) {                                                                               \
		errno = ENOSYS;                                                                    \
		return nothing;                                                                    \
	}

/*
 * Defines ibv_NAME(), which creates a TYPE. In a tracked CONTEXT the verb is of KIND, on the objects
 * ON, and filled in by FILL; GIVE gives the program's own part to an object from a set. Elsewhere
 * the verb is PLAIN.
 */
#define CREATOR(type, name, params, args, plain, context, kind, on_, fill, give)                   \
	WV_PUBLIC struct type *ibv_##name params                                                   \
	{                                                                                          \
		const void *on[WV_ON] = on_;                                                       \
		struct wv_made made;                                                               \
		struct wv_verb verb;                                                               \
		struct type *object;                                                               \
                                                                                                   \
		REAL_OR(NULL, wv_real_usual_verbs())                                               \
		if (!wv_child_has(context))                                                        \
			return plain;                                                              \
		wv_verb_begin(&verb, kind);                                                        \
		fill;                                                                              \
		object = wv_child_claim(context, &verb, on, &made);                                \
		if (!object)                                                                       \
			return wv_child_note(context, &verb, on, real->name args);                 \
		give;                                                                              \
		return object;                                                                     \
	}
#define ON(...)                                                                                    \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define NOTHING	      (void)0
#define GENUINE(call) WV_WITH_ROOM(real->call)

/* clang-format off */
CREATOR(ibv_comp_channel, create_comp_channel, (struct ibv_context *context), (context),
	GENUINE(create_comp_channel(context)), context, WV_VERB_CHANNEL, ON(NULL), NOTHING, NOTHING)
CREATOR(ibv_pd, alloc_pd, (struct ibv_context *context), (context), GENUINE(alloc_pd(context)),
	context, WV_VERB_PD, ON(NULL), NOTHING, NOTHING)
CREATOR(ibv_cq, create_cq,
	(struct ibv_context *context, int cqe, void *own, struct ibv_comp_channel *channel,
	 int vector),
	(context, cqe, own, channel, vector),
	GENUINE(create_cq(context, cqe, own, channel, vector)), context, WV_VERB_CQ,
	ON([WV_ON_CHANNEL] = channel),
	(verb.cq.cqe = (uint32_t)cqe, verb.cq.vector = (uint32_t)vector), object->cq_context = own)
CREATOR(ibv_srq, create_srq, (struct ibv_pd *pd, struct ibv_srq_init_attr *attr), (pd, attr),
	GENUINE(create_srq(pd, attr)), pd->context, WV_VERB_SRQ, ON([WV_ON_PD] = pd),
	verb.srq.attr = attr->attr,
	(object->srq_context = attr->srq_context, attr->attr = made.srq))
CREATOR(ibv_qp, create_qp, (struct ibv_pd *pd, struct ibv_qp_init_attr *attr), (pd, attr),
	wv_spares_create_qp(pd, attr), pd->context, WV_VERB_QP,
	ON(pd, attr->send_cq, attr->recv_cq, attr->srq),
	(verb.qp.cap = attr->cap, verb.qp.type = attr->qp_type,
	 verb.qp.sq_sig_all = (uint32_t)attr->sq_sig_all),
	(object->qp_context = attr->qp_context, attr->cap = made.cap))
/* clang-format on */

WV_PUBLIC int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	REAL_OR(ENOSYS, wv_real_usual_verbs())
	return wv_child_has(qp->context) ? wv_child_move(qp, attr, mask)
					 : wv_spares_modify_qp(qp, attr, mask);
}

WV_PUBLIC int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			   struct ibv_qp_init_attr *init)
{
	REAL_OR(ENOSYS, wv_real_verbs())
	return wv_child_has(qp->context) ? wv_child_query(qp, attr, mask, init)
					 : wv_spares_query_qp(qp, attr, mask, init);
}

/* Defines ibv_VERB(), which destroys an object of TYPE: by OWN, unless the context is tracked. */
#define DESTROYER(verb, type, own)                                                                 \
	static int real_##verb(void *object)                                                       \
	{                                                                                          \
		return wv_real_verbs()->verb(object);                                              \
	}                                                                                          \
	WV_PUBLIC int ibv_##verb(struct type *object)                                              \
	{                                                                                          \
		REAL_OR(ENOSYS, wv_real_verbs())                                                   \
		(void)real;                                                                        \
		return wv_child_has(object->context)                                               \
			   ? wv_child_destroy(object->context, object, real_##verb)                \
			   : own(object);                                                          \
	}

/* The same for an object that spares may use: they go first. */
#define DESTROYER_OF_USED(verb, type)                                                              \
	static int own_##verb(struct type *object)                                                 \
	{                                                                                          \
		return WV_WITHOUT_SPARES(object, wv_real_verbs()->verb(object));                   \
	}                                                                                          \
	DESTROYER(verb, type, own_##verb)

DESTROYER(destroy_comp_channel, ibv_comp_channel, real->destroy_comp_channel)
DESTROYER_OF_USED(dealloc_pd, ibv_pd)
DESTROYER_OF_USED(destroy_cq, ibv_cq)
DESTROYER_OF_USED(destroy_srq, ibv_srq)
DESTROYER(destroy_qp, ibv_qp, wv_spares_destroy_qp)

WV_PUBLIC int ibv_close_device(struct ibv_context *context)
{
	REAL_OR(ENOSYS, wv_real_verbs())
	if (wv_child_has(context))
		return wv_child_close(context);
	wv_spares_give_back(context, context);
	return real->close_device(context);
}
