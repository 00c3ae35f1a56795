/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/interpose/verbs_ex.h"

#include "preload/prefork/child_verbs.h"
#include "preload/prefork/context_ops.h"
#include "preload/spares/room.h"
#include "preload/spares/spares.h"

/* The attributes that a script can hold. With any others, the provider creates the object. */
#define CQ_MASK	 ((uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS)
#define SRQ_MASK ((uint32_t)(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD))
#define QP_MASK                                                                                    \
	((uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |                          \
		    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))

/* The functions of the provider. */
static struct wv_context_ops behind(struct ibv_context *context)
{
	struct wv_context_ops ops;

	/* Neither: another thread has just ended the script, and put them back. */
	if (!wv_child_ops(context, &ops) && !wv_room_ops(context, &ops))
		wv_context_ops_read(context, &ops);
	return ops;
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
 * Defines NAME() of a context, which creates a TYPE. In a tracked context, and if a script can hold
 * it (FITS), the verb is of KIND, on the objects ON, and filled in by FILL; GIVE gives the program's
 * own part to an object from a set.
 */
#define CREATOR(type, name, attrs, fits, kind, on_, fill, give)                                    \
	struct type *name(struct ibv_context *context, struct attrs *attr)                         \
	{                                                                                          \
		const struct wv_context_ops real = behind(context);                                \
		const void *on[WV_ON] = on_;                                                       \
		struct wv_made made;                                                               \
		struct wv_verb verb;                                                               \
		struct type *object;                                                               \
                                                                                                   \
		if (!fits || !wv_child_has(context))                                               \
			return WV_WITH_ROOM(real.name(context, attr));                             \
		wv_verb_begin(&verb, kind);                                                        \
		verb.extended = 1;                                                                 \
		fill;                                                                              \
		object = wv_child_claim(context, &verb, on, &made);                                \
		if (!object)                                                                       \
			return wv_child_note(context, &verb, on, real.name(context, attr));        \
		give;                                                                              \
		return object;                                                                     \
	}
/* Of one that no script holds. */
#define OTHER(type, name, attrs)                                                                   \
	struct type *name(struct ibv_context *context, struct attrs *attr)                         \
	{                                                                                          \
		return WV_WITH_ROOM(behind(context).name(context, attr));                          \
	}
#define ON(...)                                                                                    \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* clang-format off */
static CREATOR(ibv_cq_ex, create_cq_ex, ibv_cq_init_attr_ex, is_plain_cq(attr), WV_VERB_CQ,
	ON([WV_ON_CHANNEL] = attr->channel),
	(verb.cq.cqe = attr->cqe, verb.cq.vector = attr->comp_vector,
	 verb.cq.wc_flags = attr->wc_flags, verb.cq.comp_mask = attr->comp_mask,
	 verb.cq.flags = attr->comp_mask & CQ_MASK ? attr->flags : 0),
	object->cq_context = attr->cq_context)
static CREATOR(ibv_srq, create_srq_ex, ibv_srq_init_attr_ex, is_plain_srq(attr), WV_VERB_SRQ,
	ON([WV_ON_PD] = attr->pd),
	(verb.srq.attr = attr->attr, verb.srq.comp_mask = attr->comp_mask),
	(object->srq_context = attr->srq_context, attr->attr = made.srq))
static CREATOR(ibv_qp, create_qp_ex, ibv_qp_init_attr_ex, is_plain_qp(attr), WV_VERB_QP,
	ON(attr->pd, attr->send_cq, attr->recv_cq, attr->srq), fill_qp(&verb, attr),
	(object->qp_context = attr->qp_context, attr->cap = made.cap))
static OTHER(ibv_wq, create_wq, ibv_wq_init_attr)
static OTHER(ibv_rwq_ind_table, create_rwq_ind_table, ibv_rwq_ind_table_init_attr)
static OTHER(ibv_dm, alloc_dm, ibv_alloc_dm_attr)
static OTHER(ibv_td, alloc_td, ibv_td_init_attr)
static OTHER(ibv_pd, alloc_parent_domain, ibv_parent_domain_init_attr)
static OTHER(ibv_xrcd, open_xrcd, ibv_xrcd_init_attr)
/* clang-format on */

#define OWN(name, type, attrs) .name = (name),
    const struct wv_context_ops wv_verbs_ex = {WV_CONTEXT_OPS(OWN)};
