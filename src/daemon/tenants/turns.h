/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose turn it is: the loop serves one message at a time, of the tenant that has used least of the
 * loop's time. So a tenant with many connections, or with dear requests, waits for its own requests
 * only.
 */
#pragma once

#include "daemon/tenants/tenant.h"

/* A place in the queue; the owner embeds it. Zeroed at first. */
struct wv_turn {
	STAILQ_ENTRY(wv_turn) link;
	struct wv_tenant *tenant; /* NULL: it does not wait */
	bool postponed;
};

struct wv_turns {
	LIST_HEAD(, wv_tenant) waiting;
	STAILQ_HEAD(, wv_turn) postponed;
	struct wv_share_clock clock;
};

/* Nobody waits. */
void wv_turns_init(struct wv_turns *t);

/* @turn waits from now on; nothing happens if it waits already. @tenant stays the caller's. */
void wv_turns_add(struct wv_turns *t, struct wv_turn *turn, struct wv_tenant *tenant);

/* The next one, which no longer waits; NULL: nobody waits. */
struct wv_turn *wv_turns_next(struct wv_turns *t);

/* @turn, which does not wait, waits from now on, but has no turn until wv_turns_resume(). */
void wv_turns_postpone(struct wv_turns *t, struct wv_turn *turn, struct wv_tenant *tenant);

/* All that were postponed may have their turns. */
void wv_turns_resume(struct wv_turns *t);

/* @turn no longer waits. Harmless if it does not. */
void wv_turns_remove(struct wv_turns *t, struct wv_turn *turn);

/* What was done for @tenant took @us. */
void wv_turns_charge(struct wv_turns *t, struct wv_tenant *tenant, int64_t us);

bool wv_turns_any(const struct wv_turns *t);
