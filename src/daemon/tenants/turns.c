/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/turns.h"

#include <stddef.h>

void wv_turns_init(struct wv_turns *t)
{
	*t = (struct wv_turns){0};
	LIST_INIT(&t->waiting);
	STAILQ_INIT(&t->postponed);
}

void wv_turns_add(struct wv_turns *t, struct wv_turn *turn, struct wv_tenant *tenant)
{
	if (turn->tenant)
		return;
	if (STAILQ_EMPTY(&tenant->waiting)) {
		wv_share_join(&tenant->turns, &t->clock);
		LIST_INSERT_HEAD(&t->waiting, tenant, turns_link);
	}
	turn->tenant = tenant;
	STAILQ_INSERT_TAIL(&tenant->waiting, turn, link);
}

void wv_turns_postpone(struct wv_turns *t, struct wv_turn *turn, struct wv_tenant *tenant)
{
	turn->tenant = tenant;
	turn->postponed = true;
	STAILQ_INSERT_TAIL(&t->postponed, turn, link);
}

void wv_turns_resume(struct wv_turns *t)
{
	struct wv_turn *turn;

	while ((turn = STAILQ_FIRST(&t->postponed))) {
		struct wv_tenant *tenant = turn->tenant;

		wv_turns_remove(t, turn);
		wv_turns_add(t, turn, tenant);
	}
}

void wv_turns_remove(struct wv_turns *t, struct wv_turn *turn)
{
	struct wv_tenant *tenant = turn->tenant;

	if (!tenant)
		return;
	turn->tenant = NULL;
	if (turn->postponed) {
		turn->postponed = false;
		STAILQ_REMOVE(&t->postponed, turn, wv_turn, link);
		return;
	}
	STAILQ_REMOVE(&tenant->waiting, turn, wv_turn, link);
	if (STAILQ_EMPTY(&tenant->waiting))
		LIST_REMOVE(tenant, turns_link);
}

struct wv_turn *wv_turns_next(struct wv_turns *t)
{
	struct wv_tenant *tenant, *next = LIST_FIRST(&t->waiting);
	struct wv_turn *turn = NULL;

	LIST_FOREACH (tenant, &t->waiting, turns_link)
		if (wv_share_before(&tenant->turns, &next->turns))
			next = tenant;
	if (next)
		turn = STAILQ_FIRST(&next->waiting);
	if (turn)
		wv_turns_remove(t, turn);
	return turn;
}

void wv_turns_charge(struct wv_turns *t, struct wv_tenant *tenant, int64_t us)
{
	wv_share_charge(&tenant->turns, &t->clock, us);
}

bool wv_turns_any(const struct wv_turns *t)
{
	return !LIST_EMPTY(&t->waiting);
}
