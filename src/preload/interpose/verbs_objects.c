/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs that create, move, query and destroy objects, interposed for sets, scripts and spares.
 * In any other process, each is a test or two and a call of libibverbs' own verb.
 */
#include "preload/interpose/verbs_objects.h"

#include "base/base.h"
#include "preload/core/real.h"
#include "preload/prefork/child_verbs.h"
#include "preload/prefork/context_ops.h"
#include "preload/spares/moves.h"
#include "preload/spares/room.h"
#include "preload/spares/spares.h"

#include <errno.h>

/* The attributes that a script can hold. With any others, the provider creates the object. */
#define CQ_MASK	 ((uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS)
#define SRQ_MASK ((uint32_t)(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD))
#define QP_MASK                                                                                    \
	((uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |                          \
		    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))

/* Returns early if there is no libibverbs, which cannot happen in a program that calls a verb. */
#define REAL_OR(nothing, verbs)                                                                    \
	const struct wv_real *real = verbs;                                                        \
	if (!real) {                                                                               \
		errno = ENOSYS;                                                                    \
		return nothing;                                                                    \
	}

/* The functions of the provider. */
static struct wv_context_ops behind(struct ibv_context *context)
{
	struct wv_context_ops ops;

	/* Neither: another thread has just ended the script, and put them back. */
	if (!wv_child_ops(context, &ops) && !wv_room_ops(context, &ops))
		wv_context_ops_read(context, &ops);
	return ops;
}

/*
 * The completion vector that a script has. A CQ without a completion channel may have any, as in a
 * lease (cmdlog/adopt.c).
 */
static uint32_t vector_of(const struct ibv_context *context, const struct ibv_comp_channel *channel,
			  uint32_t vector)
{
	return !channel && vector < (uint32_t)context->num_comp_vectors ? 0 : vector;
}

static bool is_plain_cq(const struct ibv_cq_init_attr_ex *attr)
{
	return !(attr->comp_mask & ~CQ_MASK);
}

static bool is_plain_srq(const struct ibv_srq_init_attr_ex *attr)
{
	return !(attr->comp_mask & ~SRQ_MASK) && attr->comp_mask & IBV_SRQ_INIT_ATTR_PD &&
	       (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || attr->srq_type == IBV_SRQT_BASIC);
}

static bool is_plain_qp(const struct ibv_qp_init_attr_ex *attr)
{
	return !(attr->comp_mask & ~QP_MASK) && attr->comp_mask & IBV_QP_INIT_ATTR_PD;
}

static void fill_qp(struct wv_verb *verb, const struct ibv_qp_init_attr_ex *attr)
{
	verb->qp.cap = attr->cap;
	verb->qp.type = attr->qp_type;
	verb->qp.sq_sig_all = (uint32_t)attr->sq_sig_all;
	verb->qp.comp_mask = attr->comp_mask;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		verb->qp.create_flags = attr->create_flags;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		verb->qp.send_ops_flags = attr->send_ops_flags;
}

/*
 * The rest of a function that creates a TYPE. In a tracked CONTEXT, and if a script can hold it
 * (FITS), the verb is of KIND, with _ex or without, on the objects ON, and filled in by FILL; GIVE
 * gives the program's own part to an object from a set, and GENUINE makes one that no set has.
 * Elsewhere the verb is PLAIN.
 */
#define CREATE(type, context, fits, kind, ex, on_, fill, give, genuine, plain)                     \
	const void *on[WV_ON] = {LIST on_};                                                        \
	struct wv_made made;                                                                       \
	struct wv_verb verb;                                                                       \
	struct type *object;                                                                       \
                                                                                                   \
	if (!(fits) || !wv_child_has(context))                                                     \
		return plain;                                                                      \
	wv_verb_begin(&verb, kind);                                                                \
	verb.extended = ex;                                                                        \
	fill;                                                                                      \
	object = wv_child_claim(context, &verb, on, &made);                                        \
	if (!object)                                                                               \
		return wv_child_note(context, &verb, on, genuine);                                 \
	give;                                                                                      \
	return object;
#define LIST(...)	       __VA_ARGS__
#define NOTHING		       (void)0
#define GENUINE(context, call) WV_WITH_ROOM(context, real->call)

/* Defines ibv_NAME(). */
#define VERB(type, name, params, args, plain, context, kind, on_, fill, give)                      \
	WV_PUBLIC struct type *ibv_##name params                                                   \
	{                                                                                          \
		REAL_OR(NULL, wv_real_usual_verbs())                                               \
		CREATE(type, context, true, kind, 0, on_, fill, give, real->name args, plain)      \
	}

/* Defines NAME() of a context. */
#define VERB_EX(type, name, attrs, fits, kind, on_, fill, give)                                    \
	struct type *name(struct ibv_context *context, struct attrs *attr)                         \
	{                                                                                          \
		const struct wv_context_ops real = behind(context);                                \
		CREATE(type, context, fits, kind, 1, on_, fill, give, real.name(context, attr),    \
		       WV_WITH_ROOM(context, real.name(context, attr)))                            \
	}

/* The same of an object that no script holds. */
#define OTHER(type, name, attrs)                                                                   \
	struct type *name(struct ibv_context *context, struct attrs *attr)                         \
	{                                                                                          \
		return WV_WITH_ROOM(context, behind(context).name(context, attr));                 \
	}

/* clang-format off */
VERB(ibv_comp_channel, create_comp_channel, (struct ibv_context *context), (context),
	GENUINE(context, create_comp_channel(context)), context, WV_VERB_CHANNEL, (NULL), NOTHING, NOTHING)
VERB(ibv_pd, alloc_pd, (struct ibv_context *context), (context), GENUINE(context, alloc_pd(context)),
	context, WV_VERB_PD, (NULL), NOTHING, NOTHING)
VERB(ibv_cq, create_cq,
	(struct ibv_context *context, int cqe, void *own, struct ibv_comp_channel *channel,
	 int vector),
	(context, cqe, own, channel, vector),
	GENUINE(context, create_cq(context, cqe, own, channel, vector)), context, WV_VERB_CQ,
	([WV_ON_CHANNEL] = channel),
	(verb.cq.cqe = (uint32_t)cqe, verb.cq.vector = vector_of(context, channel, (uint32_t)vector)), object->cq_context = own)
static VERB_EX(ibv_cq_ex, create_cq_ex, ibv_cq_init_attr_ex, is_plain_cq(attr), WV_VERB_CQ,
	([WV_ON_CHANNEL] = attr->channel),
	(verb.cq.cqe = attr->cqe, verb.cq.vector = vector_of(context, attr->channel, attr->comp_vector),
	 verb.cq.wc_flags = attr->wc_flags, verb.cq.comp_mask = attr->comp_mask,
	 verb.cq.flags = attr->comp_mask & CQ_MASK ? attr->flags : 0),
	object->cq_context = attr->cq_context)
VERB(ibv_srq, create_srq, (struct ibv_pd *pd, struct ibv_srq_init_attr *attr), (pd, attr),
	GENUINE(pd->context, create_srq(pd, attr)), pd->context, WV_VERB_SRQ, ([WV_ON_PD] = pd),
	verb.srq.attr = attr->attr,
	(object->srq_context = attr->srq_context, attr->attr = made.srq))
static VERB_EX(ibv_srq, create_srq_ex, ibv_srq_init_attr_ex, is_plain_srq(attr), WV_VERB_SRQ,
	([WV_ON_PD] = attr->pd),
	(verb.srq.attr = attr->attr, verb.srq.comp_mask = attr->comp_mask),
	(object->srq_context = attr->srq_context, attr->attr = made.srq))
VERB(ibv_qp, create_qp, (struct ibv_pd *pd, struct ibv_qp_init_attr *attr), (pd, attr),
	wv_spares_create_qp(pd, attr), pd->context, WV_VERB_QP,
	(pd, attr->send_cq, attr->recv_cq, attr->srq),
	(verb.qp.cap = attr->cap, verb.qp.type = attr->qp_type,
	 verb.qp.sq_sig_all = (uint32_t)attr->sq_sig_all),
	(object->qp_context = attr->qp_context, attr->cap = made.cap))
static VERB_EX(ibv_qp, create_qp_ex, ibv_qp_init_attr_ex, is_plain_qp(attr), WV_VERB_QP,
	(attr->pd, attr->send_cq, attr->recv_cq, attr->srq), fill_qp(&verb, attr),
	(object->qp_context = attr->qp_context, attr->cap = made.cap))
static OTHER(ibv_wq, create_wq, ibv_wq_init_attr)
static OTHER(ibv_rwq_ind_table, create_rwq_ind_table, ibv_rwq_ind_table_init_attr)
static OTHER(ibv_dm, alloc_dm, ibv_alloc_dm_attr)
static OTHER(ibv_td, alloc_td, ibv_td_init_attr)
static OTHER(ibv_pd, alloc_parent_domain, ibv_parent_domain_init_attr)
static OTHER(ibv_xrcd, open_xrcd, ibv_xrcd_init_attr)

#define OWN(name, type, attrs) .name = (name),
const struct wv_context_ops wv_verbs_ex = {WV_CONTEXT_OPS(OWN)};
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
	WV_PUBLIC int ibv_##verb(struct type *object)                                              \
	{                                                                                          \
		struct ibv_context *context = object->context;                                     \
		uint16_t index;                                                                    \
		int error;                                                                         \
                                                                                                   \
		REAL_OR(ENOSYS, wv_real_verbs())                                                   \
		if (!wv_child_has(context))                                                        \
			return own;                                                                \
		index = wv_child_forget(context, object);                                          \
		error = real->verb(object);                                                        \
		if (error)                                                                         \
			wv_child_remember(context, object, index);                                 \
		return error;                                                                      \
	}
/* What destroys an object that spares may use: they go first. */
#define WITHOUT_SPARES(verb) WV_WITHOUT_SPARES(object, real->verb(object))

DESTROYER(destroy_comp_channel, ibv_comp_channel, real->destroy_comp_channel(object))
DESTROYER(dealloc_pd, ibv_pd, WITHOUT_SPARES(dealloc_pd))
DESTROYER(destroy_cq, ibv_cq, WITHOUT_SPARES(destroy_cq))
DESTROYER(destroy_srq, ibv_srq, WITHOUT_SPARES(destroy_srq))
DESTROYER(destroy_qp, ibv_qp, wv_spares_destroy_qp(object))

WV_PUBLIC int ibv_close_device(struct ibv_context *context)
{
	REAL_OR(ENOSYS, wv_real_verbs())
	if (wv_child_has(context))
		return wv_child_close(context);
	wv_spares_give_back(context, context);
	return real->close_device(context);
}
