/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/interpose/verbs_ex.h"

#include "preload/prefork/child_verbs.h"

/* The attributes that a script can hold. With any others, the provider creates the object. */
#define CQ_MASK	 ((uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS)
#define SRQ_MASK ((uint32_t)(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD))
#define QP_MASK                                                                                    \
	((uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |                          \
		    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))

struct call {
	struct ibv_context *context;
	void *attr;
};

/* The functions of the provider. */
static struct wv_context_ops behind(struct ibv_context *context)
{
	const struct verbs_context *own = verbs_get_ctx(context);
	struct wv_context_ops ops;

	if (!wv_child_ops(context, &ops))
		/*
		 * Another thread has just ended the script, so the context has the provider's
		 * functions again.
		 */
		ops = (struct wv_context_ops){own->create_cq_ex, own->create_srq_ex,
					      own->create_qp_ex};
	return ops;
}

static void *real_cq(void *args)
{
	struct call *call = args;

	return behind(call->context).create_cq_ex(call->context, call->attr);
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct call call = {context, attr};
	const void *on[WV_ON] = {[WV_ON_CHANNEL] = attr->channel};
	struct wv_made made = {NULL};
	struct wv_verb verb;
	struct ibv_cq *cq;

	if (attr->comp_mask & ~CQ_MASK)
		return real_cq(&call);
	wv_verb_begin(&verb, WV_VERB_CQ);
	verb.extended = 1;
	verb.cq.cqe = attr->cqe;
	verb.cq.vector = attr->comp_vector;
	verb.cq.wc_flags = attr->wc_flags;
	verb.cq.comp_mask = attr->comp_mask;
	verb.cq.flags = attr->comp_mask & CQ_MASK ? attr->flags : 0;
	cq = wv_child_make(context, &verb, on, real_cq, &call, &made);
	if (made.object)
		cq->cq_context = attr->cq_context;
	return (struct ibv_cq_ex *)cq;
}

static void *real_srq(void *args)
{
	struct call *call = args;

	return behind(call->context).create_srq_ex(call->context, call->attr);
}

static bool is_plain_srq(const struct ibv_srq_init_attr_ex *attr)
{
	return !(attr->comp_mask & ~SRQ_MASK) && attr->comp_mask & IBV_SRQ_INIT_ATTR_PD &&
	       (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || attr->srq_type == IBV_SRQT_BASIC);
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct call call = {context, attr};
	const void *on[WV_ON] = {[WV_ON_PD] = attr->pd};
	struct wv_made made = {NULL};
	struct wv_verb verb;
	struct ibv_srq *srq;

	if (!is_plain_srq(attr))
		return real_srq(&call);
	wv_verb_begin(&verb, WV_VERB_SRQ);
	verb.extended = 1;
	verb.srq.attr = attr->attr;
	verb.srq.comp_mask = attr->comp_mask;
	srq = wv_child_make(context, &verb, on, real_srq, &call, &made);
	if (made.object) {
		srq->srq_context = attr->srq_context;
		attr->attr = made.srq;
	}
	return srq;
}

static void *real_qp(void *args)
{
	struct call *call = args;

	return behind(call->context).create_qp_ex(call->context, call->attr);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct call call = {context, attr};
	const void *on[WV_ON] = {attr->pd, attr->send_cq, attr->recv_cq, attr->srq};
	struct wv_made made = {NULL};
	struct wv_verb verb;
	struct ibv_qp *qp;

	if (attr->comp_mask & ~QP_MASK || !(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return real_qp(&call);
	wv_verb_begin(&verb, WV_VERB_QP);
	verb.extended = 1;
	verb.qp.cap = attr->cap;
	verb.qp.type = attr->qp_type;
	verb.qp.sq_sig_all = (uint32_t)attr->sq_sig_all;
	verb.qp.comp_mask = attr->comp_mask;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		verb.qp.create_flags = attr->create_flags;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		verb.qp.send_ops_flags = attr->send_ops_flags;
	qp = wv_child_make(context, &verb, on, real_qp, &call, &made);
	if (made.object) {
		qp->qp_context = attr->qp_context;
		attr->cap = made.cap;
	}
	return qp;
}

const struct wv_context_ops wv_verbs_ex = {
    .create_cq_ex = create_cq_ex,
    .create_srq_ex = create_srq_ex,
    .create_qp_ex = create_qp_ex,
};
