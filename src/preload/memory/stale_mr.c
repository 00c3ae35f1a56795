/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/memory/stale_mr.h"

#include "base/base.h"
#include "base/mappings.h"
#include "preload/core/context.h"
#include "preload/core/trace.h"

#include <stdlib.h>
#include <sys/queue.h>

struct registration {
	LIST_ENTRY(registration) of_all;
	const struct ibv_mr *mr;
	struct ibv_context *verbs;
	uint32_t lkey;
	bool is_inherited, is_told;
};

/*
 * Inherited contexts, and the provider's own functions. There is a place for each, since a fork may
 * interrupt malloc().
 */
static struct watched {
	const struct ibv_context *verbs;
	struct ibv_context_ops ops;
} all_watched[WV_MAX_CONTEXTS] WV_COLD(1);

static LIST_HEAD(, registration) registrations = LIST_HEAD_INITIALIZER(registrations);

void wv_stale_mr_note(const struct ibv_mr *mr)
{
	struct registration *r;

	if (!wv_trace_is_on() || !(r = malloc(sizeof(*r))))
		return;
	*r = (struct registration){.mr = mr, .verbs = mr->context, .lkey = mr->lkey};
	wv_lock();
	LIST_INSERT_HEAD(&registrations, r, of_all);
	wv_unlock();
}

void wv_stale_mr_forget(const struct ibv_mr *mr)
{
	struct registration *r;

	if (!wv_trace_is_on())
		return;
	wv_lock();
	LIST_FOREACH (r, &registrations, of_all)
		if (r->mr == mr)
			break;
	if (r)
		LIST_REMOVE(r, of_all);
	wv_unlock();
	free(r);
}

static bool is_private(const struct ibv_sge *sge)
{
	struct wv_mapping *mappings;
	size_t n = wv_mappings_read(sge->addr, sge->addr + sge->length, &mappings);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found |= !mappings[i].is_shared;
	free(mappings);
	return found;
}

/* Each registration is reported once. */
static void look(const struct ibv_context *verbs, const struct ibv_sge *sge)
{
	struct registration *r;

	LIST_FOREACH (r, &registrations, of_all)
		if (r->lkey == sge->lkey && r->verbs == verbs && r->is_inherited)
			break;
	if (!r || r->is_told || !is_private(sge))
		return;
	r->is_told = true;
	wv_trace_copied(sge->lkey);
}

static struct watched *find(const struct ibv_context *verbs)
{
	for (unsigned int i = 0; i < WV_MAX_CONTEXTS; i++)
		if (all_watched[i].verbs == verbs)
			return &all_watched[i];
	return NULL;
}

static struct ibv_context_ops look_at(const struct ibv_context *verbs, const struct ibv_sge *list,
				      int n)
{
	struct ibv_context_ops ops;

	wv_lock();
	for (int i = 0; i < n; i++)
		look(verbs, &list[i]);
	ops = find(verbs)->ops;
	wv_unlock();
	return ops;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_context_ops ops = look_at(qp->context, NULL, 0);

	for (struct ibv_send_wr *at = wr; at; at = at->next)
		if (!(at->send_flags & IBV_SEND_INLINE))
			look_at(qp->context, at->sg_list, at->num_sge);
	return ops.post_send(qp, wr, bad);
}

static struct ibv_context_ops look_at_receives(const struct ibv_context *verbs,
					       const struct ibv_recv_wr *wr)
{
	for (; wr; wr = wr->next)
		look_at(verbs, wr->sg_list, wr->num_sge);
	return look_at(verbs, NULL, 0);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return look_at_receives(qp->context, wr).post_recv(qp, wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return look_at_receives(srq->context, wr).post_srq_recv(srq, wr, bad);
}

static void watch(const struct wv_context *c)
{
	struct ibv_context *verbs = c->verbs;
	struct watched *w;

	if (!wv_trace_is_on() || !verbs || verbs->ops.post_send == post_send)
		return;
	w = find(verbs) ?: &all_watched[c->index];
	w->verbs = verbs;
	w->ops = verbs->ops;
	verbs->ops.post_send = post_send;
	verbs->ops.post_recv = post_recv;
	verbs->ops.post_srq_recv = post_srq_recv;
}

void wv_stale_mr_forked(void)
{
	struct registration *r;

	LIST_FOREACH (r, &registrations, of_all)
		r->is_inherited = true;
	wv_each_context(c) watch(c);
}
