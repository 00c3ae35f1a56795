/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A share of the loop's time (a token bucket, of microseconds). Who has used it up waits; a debt is
 * waited for, too. Pure functions.
 */
#pragma once

#include <stdint.h>

/* Of each second, @share_us may be used, and @most_us at once after a pause. */
struct wv_allowance_rate {
	int64_t share_us, most_us;
};

/* Zeroed at first, and then full. */
struct wv_allowance {
	int64_t left_us, since_us;
};

/* At @now_us: 0 if there is something left, or the time after which there will be. */
static inline int64_t wv_allowance_wait(struct wv_allowance *a,
					const struct wv_allowance_rate *rate, int64_t now_us)
{
	const int64_t second_us = 1000000;
	int64_t passed_us = now_us - a->since_us;

	if (!a->since_us || passed_us > 60 * second_us) {
		*a = (struct wv_allowance){.left_us = rate->most_us, .since_us = now_us};
	} else { /* what is less than a microsecond counts the next time */
		int64_t more_us = passed_us * rate->share_us / second_us;

		a->left_us += more_us;
		a->since_us += more_us * second_us / rate->share_us;
	}
	if (a->left_us > rate->most_us)
		a->left_us = rate->most_us;
	return a->left_us > 0 ? 0 : (1 - a->left_us) * second_us / rate->share_us + 1;
}

/* @us were used. */
static inline void wv_allowance_charge(struct wv_allowance *a, int64_t us)
{
	a->left_us -= us;
}
