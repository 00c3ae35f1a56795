/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/context_ops.h"

static const struct wv_context_ops *ours;

void wv_context_ops_interpose(const struct wv_context_ops *ops)
{
	ours = ops;
}

/*
 * A context may be older than a verb, or its provider may lack the verb. Such an entry is left
 * alone.
 */
#define TAKE_OVER(context, ops, name)                                                              \
	do {                                                                                       \
		(ops)->name = (context)->name;                                                     \
		if ((context)->name)                                                               \
			(context)->name = ours->name;                                              \
	} while (0)

void wv_context_ops_take_over(struct wv_set *set)
{
	struct verbs_context *context = verbs_get_ctx(wv_set_context(set));

	TAKE_OVER(context, &set->ops, create_cq_ex);
	TAKE_OVER(context, &set->ops, create_srq_ex);
	TAKE_OVER(context, &set->ops, create_qp_ex);
}

void wv_context_ops_restore(const struct wv_set *set)
{
	struct verbs_context *context = verbs_get_ctx(wv_set_context(set));

	context->create_cq_ex = set->ops.create_cq_ex;
	context->create_srq_ex = set->ops.create_srq_ex;
	context->create_qp_ex = set->ops.create_qp_ex;
}
