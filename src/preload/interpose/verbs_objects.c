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

static void *real_channel(void *context)
{
	return wv_real_verbs()->create_comp_channel(context);
}

WV_PUBLIC struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	const void *on[WV_ON] = {NULL};
	struct wv_made made;
	struct wv_verb verb;

	REAL_OR(NULL, wv_real_usual_verbs())
	if (!wv_child_is_tracking())
		return real->create_comp_channel(context);
	wv_verb_begin(&verb, WV_VERB_CHANNEL);
	return wv_child_make(context, &verb, on, real_channel, context, &made);
}

static void *real_pd(void *context)
{
	return wv_real_verbs()->alloc_pd(context);
}

WV_PUBLIC struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	const void *on[WV_ON] = {NULL};
	struct wv_made made;
	struct wv_verb verb;

	REAL_OR(NULL, wv_real_usual_verbs())
	if (!wv_child_is_tracking())
		return real->alloc_pd(context);
	wv_verb_begin(&verb, WV_VERB_PD);
	return wv_child_make(context, &verb, on, real_pd, context, &made);
}

struct cq_call {
	struct ibv_context *context;
	void *cq_context;
	struct ibv_comp_channel *channel;
	int cqe, vector;
};

static void *real_cq(void *args)
{
	struct cq_call *call = args;

	return wv_real_verbs()->create_cq(call->context, call->cqe, call->cq_context, call->channel,
					  call->vector);
}

WV_PUBLIC struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				       struct ibv_comp_channel *channel, int vector)
{
	struct cq_call call = {context, cq_context, channel, cqe, vector};
	const void *on[WV_ON] = {[WV_ON_CHANNEL] = channel};
	struct wv_made made = {NULL};
	struct wv_verb verb;
	struct ibv_cq *cq;

	REAL_OR(NULL, wv_real_usual_verbs())
	if (!wv_child_is_tracking())
		return real->create_cq(context, cqe, cq_context, channel, vector);
	wv_verb_begin(&verb, WV_VERB_CQ);
	verb.cq.cqe = (uint32_t)cqe;
	verb.cq.vector = (uint32_t)vector;
	cq = wv_child_make(context, &verb, on, real_cq, &call, &made);
	if (made.object)
		cq->cq_context = cq_context;
	return cq;
}

struct pd_call {
	struct ibv_pd *pd;
	void *attr;
};

static void *real_srq(void *args)
{
	struct pd_call *call = args;

	return wv_real_verbs()->create_srq(call->pd, call->attr);
}

WV_PUBLIC struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct pd_call call = {pd, attr};
	const void *on[WV_ON] = {[WV_ON_PD] = pd};
	struct wv_made made = {NULL};
	struct wv_verb verb;
	struct ibv_srq *srq;

	REAL_OR(NULL, wv_real_usual_verbs())
	if (!wv_child_is_tracking())
		return real->create_srq(pd, attr);
	wv_verb_begin(&verb, WV_VERB_SRQ);
	verb.srq.attr = attr->attr;
	srq = wv_child_make(pd->context, &verb, on, real_srq, &call, &made);
	if (made.object) {
		srq->srq_context = attr->srq_context;
		attr->attr = made.srq;
	}
	return srq;
}

static void *real_qp(void *args)
{
	struct pd_call *call = args;

	return wv_real_verbs()->create_qp(call->pd, call->attr);
}

WV_PUBLIC struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct pd_call call = {pd, attr};
	const void *on[WV_ON] = {pd, attr->send_cq, attr->recv_cq, attr->srq};
	struct wv_made made = {NULL};
	struct wv_verb verb;
	struct ibv_qp *qp;

	REAL_OR(NULL, wv_real_usual_verbs())
	if (!wv_child_is_tracking())
		return wv_spares_create_qp(pd, attr);
	wv_verb_begin(&verb, WV_VERB_QP);
	verb.qp.cap = attr->cap;
	verb.qp.type = attr->qp_type;
	verb.qp.sq_sig_all = (uint32_t)attr->sq_sig_all;
	qp = wv_child_make(pd->context, &verb, on, real_qp, &call, &made);
	if (made.object) {
		qp->qp_context = attr->qp_context;
		attr->cap = made.cap;
	}
	return qp;
}

WV_PUBLIC int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	REAL_OR(ENOSYS, wv_real_usual_verbs())
	return wv_child_is_tracking() ? wv_child_move(qp, attr, mask)
				      : wv_spares_modify_qp(qp, attr, mask);
}

WV_PUBLIC int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			   struct ibv_qp_init_attr *init)
{
	REAL_OR(ENOSYS, wv_real_verbs())
	return wv_child_is_tracking() ? wv_child_query(qp, attr, mask, init)
				      : wv_spares_query_qp(qp, attr, mask, init);
}

/* Defines ibv_VERB(), which destroys an object of TYPE; OWN is called if there are no sets. */
#define DESTROYER(verb, type, own)                                                                 \
	static int real_##verb(void *object)                                                       \
	{                                                                                          \
		return wv_real_verbs()->verb(object);                                              \
	}                                                                                          \
	WV_PUBLIC int ibv_##verb(struct type *object)                                              \
	{                                                                                          \
		REAL_OR(ENOSYS, wv_real_verbs())                                                   \
		(void)real;                                                                        \
		return wv_child_is_tracking()                                                      \
			   ? wv_child_destroy(object->context, object, real_##verb)                \
			   : own(object);                                                          \
	}

/* The same for an object that spares may use: they go first. */
#define DESTROYER_OF_USED(verb, type)                                                              \
	static int own_##verb(struct type *object)                                                 \
	{                                                                                          \
		wv_spares_give_back(object);                                                       \
		return wv_real_verbs()->verb(object);                                              \
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
	if (wv_child_is_tracking())
		return wv_child_close(context);
	wv_spares_give_back(context);
	return real->close_device(context);
}
