/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/context_ops.h"

static const struct wv_context_ops *ours;

void wv_context_ops_interpose(const struct wv_context_ops *ops)
{
	ours = ops;
}

#define READ(name, type, attr) ops->name = own->name;

void wv_context_ops_read(struct ibv_context *context, struct wv_context_ops *ops)
{
	const struct verbs_context *own = verbs_get_ctx(context);

	WV_CONTEXT_OPS(READ)
}

/*
 * A context may be older than a verb, or its provider may lack the verb. Such an entry is left
 * alone.
 */
#define WRITE(name, type, attr)                                                                    \
	if (own->name)                                                                             \
		own->name = ops->name;

void wv_context_ops_restore(struct ibv_context *context, const struct wv_context_ops *ops)
{
	struct verbs_context *own = verbs_get_ctx(context);

	WV_CONTEXT_OPS(WRITE)
}

void wv_context_ops_take_over(struct ibv_context *context, struct wv_context_ops *ops)
{
	wv_context_ops_read(context, ops);
	wv_context_ops_restore(context, ours);
}
