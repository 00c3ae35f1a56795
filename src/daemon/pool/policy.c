/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/policy.h"

static uint32_t idle_periods(int64_t since_us, int64_t now_us, int64_t idle_us)
{
	int64_t periods = now_us > since_us ? (now_us - since_us) / idle_us : 0;

	return periods > 31 ? 31 : (uint32_t)periods;
}

/* What is left of the level after the idle periods so far, at least one. */
static uint32_t decayed(const struct wv_demand *d, int64_t now_us, int64_t idle_us)
{
	uint32_t level = d->level >> idle_periods(d->reached_us, now_us, idle_us);

	return level ? level : 1;
}

void wv_demand_init(struct wv_demand *d, int64_t last_us)
{
	*d = (struct wv_demand){.last_us = last_us, .reached_us = last_us, .level = 1};
}

void wv_demand_claim(struct wv_demand *d, int64_t now_us, int64_t idle_us)
{
	if (!d->burst || now_us - d->burst_us > WV_BURST_US) {
		d->burst = 0;
		d->burst_us = now_us;
	}
	d->burst++;
	d->last_us = now_us;
	if (d->burst >= decayed(d, now_us, idle_us)) {
		d->level = d->burst;
		d->reached_us = now_us;
	}
}

void wv_demand_full(struct wv_demand *d)
{
	d->burst = 0;
}

uint32_t wv_demand_target(const struct wv_demand *d, int64_t now_us, int64_t idle_us)
{
	if (idle_periods(d->last_us, now_us, idle_us) >= WV_IDLE_PERIODS)
		return 0;
	return decayed(d, now_us, idle_us);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A user's limit: as configured, but at most an equal share of the total, and at least one lease.
 */
static struct wv_use user_limit(const struct wv_limits *l, unsigned int n_active)
{
	unsigned int n = n_active ? n_active : 1;
	uint32_t leases = l->total.leases / n;

	return (struct wv_use){
	    .leases = (uint32_t)smaller(l->user.leases, leases ? leases : 1),
	    .fds = (uint32_t)smaller(l->user.fds, l->total.fds),
	    .bytes = smaller(l->user.bytes, l->total.bytes / n),
	};
}

bool wv_has_room(const struct wv_use *use, const struct wv_use *limit, const struct wv_cost *cost)
{
	return use->leases < limit->leases && cost->fds <= limit->fds &&
	       use->fds <= limit->fds - cost->fds && cost->bytes <= limit->bytes &&
	       use->bytes <= limit->bytes - cost->bytes;
}

static void charge(struct wv_use *use, const struct wv_cost *cost)
{
	use->leases++;
	use->fds += cost->fds;
	use->bytes += cost->bytes;
}

static unsigned int active_users(const struct wv_want *wants, unsigned int n, struct wv_use *users,
				 unsigned int n_users)
{
	unsigned int active = 0;

	for (unsigned int i = 0; i < n; i++)
		if (wants[i].target)
			users[wants[i].user].leases = 1; /* a temporary mark */
	for (unsigned int i = 0; i < n_users; i++) {
		active += users[i].leases;
		users[i].leases = 0;
	}
	return active;
}

void wv_plan(struct wv_want *wants, unsigned int n, struct wv_use *users, unsigned int n_users,
	     const struct wv_limits *limits)
{
	struct wv_use limit = user_limit(limits, active_users(wants, n, users, n_users));
	struct wv_use total = {0};
	bool granted = true;

	for (unsigned int i = 0; i < n; i++)
		wants[i].granted = 0;
	while (granted) {
		granted = false;
		for (unsigned int i = 0; i < n; i++) {
			struct wv_want *w = &wants[i];

			if (w->granted >= w->target || w->granted >= limits->leases_per_recipe ||
			    !wv_has_room(&users[w->user], &limit, w->cost) ||
			    !wv_has_room(&total, &limits->total, w->cost))
				continue;
			w->granted++;
			charge(&users[w->user], w->cost);
			charge(&total, w->cost);
			granted = true;
		}
	}
}
