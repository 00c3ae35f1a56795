/* SPDX-License-Identifier: BSD-2-Clause */
/* Leases with a pair, and the programs that get them. */
#pragma once

#include "daemon/pairs/holder.h"
#include "daemon/pool/pooled_lease.h"
#include "store/recipe.h"
#include "wire/pair.h"

/*
 * A lease of @recipe on the device @rdev with a pair, which is the caller's; NULL: there is none.
 * @p may be NULL.
 */
struct wv_pooled_lease *wv_pairs_claim(struct wv_pairs *p, const struct wv_recipe *recipe,
				       dev_t rdev);

/* The lease that was claimed was sent to @holder. Call before its descriptors are closed. */
void wv_pairs_handed_out(struct wv_pairs *p, const struct wv_pooled_lease *lease,
			 struct wv_pair_holder *holder);

/* The lease that was claimed could not be handed out; it is closed. */
void wv_pairs_return(struct wv_pairs *p, struct wv_pooled_lease *lease);

/*
 * The program has connected the queue pair that step @create creates, and not as its pair is, if
 * that is the pair's, for the reason @why.
 */
void wv_pairs_differ(struct wv_pairs *p, struct wv_pair_holder *holder, uint32_t create,
		     enum wv_pair_why why);

/* The program has ended. Harmless if it has no pair. */
void wv_pairs_leave(struct wv_pairs *p, struct wv_pair_holder *holder);
