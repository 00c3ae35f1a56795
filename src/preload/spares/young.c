/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/young.h"

#include "base/base.h"

#define YOUNG 32

static struct wv_young_qp all[YOUNG] WV_COLD(1);
static unsigned int n;

/* The place for one more: an unused one, or that of one from which a shape is learned. */
static struct wv_young_qp *place(void)
{
	if (n < YOUNG)
		return &all[n];
	for (unsigned int i = 0; i < YOUNG; i++)
		if (!all[i].is_spare && !all[i].was_reset)
			return &all[i];
	return NULL;
}

bool wv_young_has_room(void)
{
	return place();
}

void wv_young_add(const struct wv_young_qp *young)
{
	struct wv_young_qp *to = place();

	if (!to)
		return;
	*to = *young;
	if (to == &all[n])
		__atomic_store_n(&n, n + 1, __ATOMIC_RELAXED);
}

struct wv_young_qp *wv_young_find(const struct ibv_qp *qp)
{
	for (unsigned int i = 0; i < n; i++)
		if (all[i].qp == qp)
			return &all[i];
	return NULL;
}

void wv_young_remove(struct wv_young_qp *young)
{
	*young = all[n - 1];
	__atomic_store_n(&n, n - 1, __ATOMIC_RELAXED);
}

bool wv_young_any(void)
{
	return __atomic_load_n(&n, __ATOMIC_RELAXED);
}

void wv_young_forget(void)
{
	n = 0;
}
