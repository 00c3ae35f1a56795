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
#define TAKE_OVER(name, type, attr)                                                                \
	ops->name = own->name;                                                                     \
	if (own->name)                                                                             \
		own->name = ours->name;

void wv_context_ops_take_over(struct ibv_context *context, struct wv_context_ops *ops)
{
	struct verbs_context *own = verbs_get_ctx(context);

	WV_CONTEXT_OPS(TAKE_OVER)
}

#define RESTORE(name, type, attr) own->name = ops->name;

void wv_context_ops_restore(struct ibv_context *context, const struct wv_context_ops *ops)
{
	struct verbs_context *own = verbs_get_ctx(context);

	WV_CONTEXT_OPS(RESTORE)
}

#define READ(name, type, attr) ops->name = own->name;

void wv_context_ops_read(struct ibv_context *context, struct wv_context_ops *ops)
{
	const struct verbs_context *own = verbs_get_ctx(context);

	WV_CONTEXT_OPS(READ)
}
