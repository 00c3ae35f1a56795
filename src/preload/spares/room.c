/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/room.h"

#include "base/base.h"
#include "preload/prefork/context_ops.h"
#include "preload/stock/stock.h"

/* No more contexts than shapes have spares at one time; others go without. */
static struct {
	struct ibv_context *context; /* NULL: none */
	struct wv_context_ops ops;
} all[WV_STOCK_SHAPES] WV_COLD(1);

/* The place of @context, which may be NULL for an unused one; WV_STOCK_SHAPES if there is none. */
static unsigned int place(const struct ibv_context *context)
{
	unsigned int i = 0;

	while (i < WV_STOCK_SHAPES && __atomic_load_n(&all[i].context, __ATOMIC_ACQUIRE) != context)
		i++;
	return i;
}

void wv_room_enter(struct ibv_context *context)
{
	unsigned int i = place(NULL);

	if (i == WV_STOCK_SHAPES || place(context) < WV_STOCK_SHAPES)
		return;
	wv_context_ops_read(context, &all[i].ops);
	__atomic_store_n(&all[i].context, context, __ATOMIC_RELEASE);
	wv_context_ops_take_over(context, &all[i].ops);
}

void wv_room_leave(const struct ibv_context *context)
{
	unsigned int i = place(context);

	if (i == WV_STOCK_SHAPES)
		return;
	wv_context_ops_restore(all[i].context, &all[i].ops);
	__atomic_store_n(&all[i].context, NULL, __ATOMIC_RELEASE);
}

bool wv_room_ops(const struct ibv_context *context, struct wv_context_ops *ops)
{
	unsigned int i = place(context);

	if (i < WV_STOCK_SHAPES)
		*ops = all[i].ops;
	return i < WV_STOCK_SHAPES;
}
