/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fair shares of something that is used one after another (start-time fair queueing: Goyal, Vin and
 * Cheng, SIGCOMM 1996): who has used least is next, and nobody saves up for later by using nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How much one of them has used, in microseconds. Zeroed at first. */
struct wv_share {
	int64_t used_us;
};

/* What all of them share. Zeroed at first. */
struct wv_share_clock {
	int64_t now_us; /* the share of who was served last */
};

/* @share begins to want something, after it wanted nothing. */
static inline void wv_share_join(struct wv_share *share, const struct wv_share_clock *clock)
{
	if (share->used_us < clock->now_us)
		share->used_us = clock->now_us;
}

/* Whether @a comes before @b, if both want something. */
static inline bool wv_share_before(const struct wv_share *a, const struct wv_share *b)
{
	return a->used_us < b->used_us;
}

/* @share was chosen, and what it got took @us. */
static inline void wv_share_charge(struct wv_share *share, struct wv_share_clock *clock, int64_t us)
{
	if (clock->now_us < share->used_us)
		clock->now_us = share->used_us;
	share->used_us += us > 0 ? us : 1;
}

/*
 * How much of @total one may use of which @others are using so much: half of what they leave. So
 * whoever comes last finds something left, and the more there are, the less each has (dynamic
 * thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998).
 */
static inline uint64_t wv_share_limit(uint64_t total, uint64_t others)
{
	return others < total ? (total - others) / 2 : 0;
}
