/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/set_make.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/lease/device_verbs.h"
#include "preload/lease/lease_end.h"
#include "preload/prefork/context_ops.h"
#include "preload/prefork/device_list.h"

#include <errno.h>
#include <stdlib.h>

struct wv_set *wv_set_new(struct wv_script *script, uint32_t n)
{
	struct wv_set *set = calloc(1, sizeof(*set) + n * sizeof(set->made[0]));

	if (set)
		set->script = script;
	return set;
}

void wv_set_free(struct wv_set *set)
{
	free(set->resources.ranges);
	free(set);
}

static void *on(const struct wv_set *set, const struct wv_verb *verb, unsigned int which)
{
	uint16_t index = verb->on[which];

	return index == WV_NO_OBJECT ? NULL : set->made[index].object;
}

static void *make_open(struct wv_set *set, const struct wv_verb *verb)
{
	struct ibv_device **devices = wv_device_list();
	struct ibv_context *context = NULL;

	if (!devices)
		return NULL;
	while (*devices && strcmp((*devices)->name, verb->open.device) != 0)
		devices++;
	errno = ENODEV;
	if (*devices)
		context = wv_open_device(*devices);
	if (!context)
		return NULL;
	if (!wv_context_facts(context->cmd_fd).is_seen) {
		/*
		 * Commands that this library does not see cannot be held back, so abandoning the
		 * set would destroy objects that a child uses.
		 */
		wv_real_verbs()->close_device(context);
		errno = EOPNOTSUPP;
		return NULL;
	}
	wv_resources_opened(&set->resources, context->cmd_fd);
	return context;
}

static void *make_channel(struct wv_set *set, const struct wv_verb *verb)
{
	(void)verb;
	return wv_real_verbs()->create_comp_channel(wv_set_context(set));
}

static void *make_pd(struct wv_set *set, const struct wv_verb *verb)
{
	(void)verb;
	return wv_real_verbs()->alloc_pd(wv_set_context(set));
}

static void *make_cq(struct wv_set *set, const struct wv_verb *verb)
{
	struct ibv_cq_init_attr_ex attr = {
	    .cqe = verb->cq.cqe,
	    .channel = on(set, verb, WV_ON_CHANNEL),
	    .comp_vector = verb->cq.vector,
	    .wc_flags = verb->cq.wc_flags,
	    .comp_mask = verb->cq.comp_mask,
	    .flags = verb->cq.flags,
	};

	if (verb->extended)
		return set->ops.create_cq_ex(wv_set_context(set), &attr);
	return wv_real_verbs()->create_cq(wv_set_context(set), (int)attr.cqe, NULL, attr.channel,
					  (int)attr.comp_vector);
}

static void *make_srq(struct wv_set *set, const struct wv_verb *verb)
{
	struct wv_made *made = &set->made[set->n];
	struct ibv_srq_init_attr plain = {.attr = verb->srq.attr};
	struct ibv_srq_init_attr_ex attr = {
	    .attr = verb->srq.attr,
	    .comp_mask = verb->srq.comp_mask,
	    .srq_type = IBV_SRQT_BASIC,
	    .pd = on(set, verb, WV_ON_PD),
	};
	void *srq;

	if (verb->extended)
		srq = set->ops.create_srq_ex(wv_set_context(set), &attr);
	else
		srq = wv_real_verbs()->create_srq(attr.pd, &plain);
	made->srq = verb->extended ? attr.attr : plain.attr;
	return srq;
}

static struct ibv_qp_init_attr_ex qp_attr(const struct wv_set *set, const struct wv_verb *verb)
{
	return (struct ibv_qp_init_attr_ex){
	    .send_cq = on(set, verb, WV_ON_SEND_CQ),
	    .recv_cq = on(set, verb, WV_ON_RECV_CQ),
	    .srq = on(set, verb, WV_ON_SRQ),
	    .pd = on(set, verb, WV_ON_PD),
	    .cap = verb->qp.cap,
	    .qp_type = verb->qp.type,
	    .sq_sig_all = (int)verb->qp.sq_sig_all,
	    .comp_mask = verb->qp.comp_mask,
	    .create_flags = verb->qp.create_flags,
	    .send_ops_flags = verb->qp.send_ops_flags,
	};
}

/* The newer structure begins with the older one (verbs.h). */
_Static_assert(offsetof(struct ibv_qp_init_attr_ex, sq_sig_all) ==
		   offsetof(struct ibv_qp_init_attr, sq_sig_all),
	       "one structure, two lengths");

static void *make_qp(struct wv_set *set, const struct wv_verb *verb)
{
	struct wv_made *made = &set->made[set->n];
	struct ibv_qp_init_attr_ex attr = qp_attr(set, verb);
	void *qp;

	if (verb->extended)
		qp = set->ops.create_qp_ex(wv_set_context(set), &attr);
	else
		qp = wv_real_verbs()->create_qp(attr.pd, (struct ibv_qp_init_attr *)&attr);
	made->cap = attr.cap;
	return qp;
}

static void *(*const makers[])(struct wv_set *, const struct wv_verb *) = {
    [WV_VERB_OPEN] = make_open, [WV_VERB_CHANNEL] = make_channel, [WV_VERB_PD] = make_pd,
    [WV_VERB_CQ] = make_cq,	[WV_VERB_SRQ] = make_srq,	  [WV_VERB_QP] = make_qp,
};

/* The owner has not moved the queue pair yet, so it must see the state RESET. */
static int move(struct wv_set *set, const struct wv_verb *verb)
{
	struct ibv_qp *qp = on(set, verb, WV_ON_QP);
	struct ibv_qp_attr attr;
	int mask = wv_verb_get_move(verb, &attr);
	int error = wv_real_verbs()->modify_qp(qp, &attr, mask);

	qp->state = IBV_QPS_RESET;
	return -error;
}

static int make(struct wv_set *set, const struct wv_verb *verb, void **made)
{
	errno = 0;
	if (verb->kind == WV_VERB_MOVE)
		return move(set, verb);
	*made = makers[verb->kind](set, verb);
	if (*made)
		return 0;
	return errno ? -errno : -EIO;
}

int wv_set_make_next(struct wv_set *set)
{
	const struct wv_verb *verb = &set->script->verbs[set->n];
	const struct wv_maker maker = {
	    .owner = set->resources.owner,
	    .open_number = set->script->open_number,
	    .is_user = set->is_own,
	    .mapped = wv_resources_mapped,
	    .opened = wv_resources_opened,
	    .data = &set->resources,
	};
	void *made = NULL;
	int err;

	if (!wv_resources_are_there(&set->resources))
		return -EBADF;
	wv_scope.maker = &maker;
	err = make(set, verb, &made);
	wv_scope.maker = NULL;
	if (err)
		return err;
	set->made[set->n++].object = made;
	if (verb->kind == WV_VERB_OPEN)
		wv_context_ops_take_over(made, &set->ops);
	if (wv_set_is_complete(set))
		wv_lease_complete(wv_set_context(set)->cmd_fd);
	return set->resources.lost ? -EMFILE : 0;
}

static int destroy(const struct wv_real *real, const struct wv_verb *verb, void *object)
{
	switch (verb->kind) {
	case WV_VERB_CHANNEL:
		return real->destroy_comp_channel(object);
	case WV_VERB_PD:
		return real->dealloc_pd(object);
	case WV_VERB_CQ:
		return real->destroy_cq(object);
	case WV_VERB_SRQ:
		return real->destroy_srq(object);
	case WV_VERB_QP:
		return real->destroy_qp(object);
	default:
		return real->close_device(object);
	}
}

int wv_set_destroy(struct wv_set *set, uint16_t index)
{
	void *object = set->made[index].object;

	set->made[index].object = NULL;
	return destroy(wv_real_verbs(), &set->script->verbs[index], object);
}

void wv_set_unmake(struct wv_set *set)
{
	for (uint32_t i = set->n; i-- > 0;)
		if (set->made[i].object)
			wv_set_destroy(set, (uint16_t)i);
	wv_set_free(set);
}

void wv_set_abandon(struct wv_set *set)
{
	wv_resources_part_from_queues(&set->resources);
	wv_context_abandon(wv_set_context(set)->cmd_fd);
	wv_set_unmake(set);
}

void wv_set_drop(struct wv_set *set)
{
	wv_resources_drop(&set->resources);
	wv_set_free(set);
}

void wv_set_end(struct wv_set *set)
{
	if (wv_resources_are_there(&set->resources))
		wv_set_unmake(set);
	else
		wv_set_drop(set);
}
