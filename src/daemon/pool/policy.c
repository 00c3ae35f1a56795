/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/policy.h"

#include <stdlib.h>

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

static void note_use(struct wv_demand *d, const struct wv_claim *claim)
{
	if (d->use_turn && claim->asked_us - d->use_us <= WV_BURST_US)
		return;
	if (d->use_turn)
		d->period = claim->turn - d->use_turn;
	d->use_us = claim->asked_us;
	d->use_turn = claim->turn;
}

static bool in_burst(const struct wv_demand *d, int64_t asked_us)
{
	return d->burst && asked_us - d->burst_us <= WV_BURST_US &&
	       !(d->was_full && asked_us >= d->full_us);
}

void wv_demand_claim(struct wv_demand *d, const struct wv_claim *claim, int64_t idle_us)
{
	note_use(d, claim);
	if (!in_burst(d, claim->asked_us)) {
		d->burst = 0;
		d->burst_us = claim->asked_us;
		d->was_full = false;
	}
	d->burst++;
	d->last_us = claim->now_us;
	if (d->burst >= decayed(d, claim->now_us, idle_us)) {
		d->level = d->burst;
		d->reached_us = claim->now_us;
	}
}

int64_t wv_demand_due(const struct wv_demand *d, uint64_t turn)
{
	uint64_t ago = turn - d->use_turn;

	return (int64_t)(ago < 2 * d->period ? d->period - ago : ago - d->period);
}

void wv_demand_full(struct wv_demand *d, int64_t now_us)
{
	d->was_full = true;
	d->full_us = now_us;
}

uint32_t wv_demand_target(const struct wv_demand *d, int64_t now_us, int64_t idle_us)
{
	if (idle_periods(d->last_us, now_us, idle_us) >= WV_IDLE_PERIODS)
		return 0;
	return decayed(d, now_us, idle_us);
}

static int compare(const void *a, const void *b)
{
	int64_t x = ((const struct wv_want *)a)->due;
	int64_t y = ((const struct wv_want *)b)->due;

	return x < y ? -1 : x > y;
}

void wv_wants_sort(struct wv_want *wants, unsigned int n)
{
	qsort(wants, n, sizeof(*wants), compare);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint32_t equal_share(uint32_t total, unsigned int n, uint32_t at_least)
{
	return total / n > at_least ? total / n : at_least;
}

/*
 * A tenant's limit: as configured, but at most an equal share of the total, and at least what one
 * lease takes.
 */
static struct wv_use tenant_limit(const struct wv_limits *l, unsigned int n_active)
{
	unsigned int n = n_active ? n_active : 1;

	return (struct wv_use){
	    .leases = (uint32_t)smaller(l->user.leases, equal_share(l->total.leases, n, 1)),
	    .fds = (uint32_t)smaller(l->user.fds, equal_share(l->total.fds, n, WV_CMDLOG_MAX_FDS)),
	    .bytes = smaller(l->user.bytes, l->total.bytes / n),
	};
}

bool wv_has_room(const struct wv_use *use, const struct wv_use *limit, const struct wv_cost *cost)
{
	return use->leases < limit->leases && cost->fds <= limit->fds &&
	       use->fds <= limit->fds - cost->fds && cost->bytes <= limit->bytes &&
	       use->bytes <= limit->bytes - cost->bytes;
}

/* Leaves the accounts of all tenants at zero. */
static unsigned int active_tenants(struct wv_want *wants, unsigned int n)
{
	unsigned int active = 0;

	for (unsigned int i = 0; i < n; i++)
		wants[i].planned->leases = 0;
	for (unsigned int i = 0; i < n; i++)
		if (wants[i].target && !wants[i].planned->leases++)
			active++;
	for (unsigned int i = 0; i < n; i++)
		*wants[i].planned = (struct wv_use){0};
	return active;
}

/* A plan in progress. */
struct plan {
	struct wv_want *wants;
	unsigned int n;
	const struct wv_limits *limits;
	struct wv_use tenant_limit, total;
};

/* Grants an entry lease number @round, if it may have it. */
static bool grant(struct plan *p, struct wv_want *w, uint32_t round)
{
	/* Who had no room in an earlier round has none now. */
	if (w->granted + 1 != round || round > w->target || round > p->limits->leases_per_recipe ||
	    !wv_has_room(w->planned, &p->tenant_limit, w->cost) ||
	    !wv_has_room(&p->total, &p->limits->total, w->cost))
		return false;
	w->granted++;
	wv_use_add(w->planned, w->cost);
	wv_use_add(&p->total, w->cost);
	return true;
}

/* The first entry from @w on whose lease number @round exists, or does not, as @held says. */
static struct wv_want *next(const struct plan *p, struct wv_want *w, uint32_t round, bool held)
{
	while (w < p->wants + p->n && (w->held >= round) != held)
		w++;
	return w;
}

static bool gives_way(const struct wv_want *held, const struct wv_want *new)
{
	int64_t due = new->due > new->unsure ? new->due : new->unsure;

	return !held->stays && due < held->due / WV_KEEP;
}

/* Grants lease number @round to all that may have it, in their order, which favours what exists. */
static bool play_round(struct plan *p, uint32_t round)
{
	struct wv_want *end = p->wants + p->n;
	struct wv_want *held = next(p, p->wants, round, true);
	struct wv_want *new = next(p, p->wants, round, false);
	bool granted = false;

	while (held < end || new < end) {
		if (new == end || (held < end && !gives_way(held, new))) {
			granted |= grant(p, held, round);
			held = next(p, held + 1, round, true);
		} else {
			granted |= grant(p, new, round);
			new = next(p, new + 1, round, false);
		}
	}
	return granted;
}

void wv_plan(struct wv_want *wants, unsigned int n, const struct wv_limits *limits)
{
	struct plan p = {
	    .wants = wants,
	    .n = n,
	    .limits = limits,
	    .tenant_limit = tenant_limit(limits, active_tenants(wants, n)),
	};
	uint32_t round = 1;

	for (unsigned int i = 0; i < n; i++)
		wants[i].granted = 0;
	while (play_round(&p, round))
		round++;
}
