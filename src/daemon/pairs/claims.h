/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leases with a pair, and what the programs that get them say of their connections. Whoever knows
 * no more of pairs needs neither peers nor TLS.
 */
#pragma once

#include "daemon/pool/pooled_lease.h"
#include "store/recipe.h"
#include "wire/pair.h"

struct wv_edge_report;
struct wv_pair;
struct wv_pairs;

/*
 * A lease of @recipe on the device @rdev with a pair, which is the caller's; NULL: there is none.
 * @p may be NULL.
 */
struct wv_pooled_lease *wv_pairs_claim(struct wv_pairs *p, const struct wv_recipe *recipe,
				       dev_t rdev);

/*
 * The lease that was claimed was sent to a client by its connection @sock, which stays open until
 * wv_pairs_leave(). *@held is the client's pair, until the other end is gone. Call before the
 * lease's descriptors are closed.
 */
void wv_pairs_handed_out(struct wv_pairs *p, const struct wv_pooled_lease *lease, int sock,
			 struct wv_pair **held);

/* The lease that was claimed could not be handed out; it is closed. */
void wv_pairs_return(struct wv_pairs *p, struct wv_pooled_lease *lease);

/*
 * The program has connected the queue pair that step @create creates, and not as its @pair is, if
 * that is the pair's, for the reason @why. Or it has destroyed it, unconnected (WV_PAIR_ENDED) or
 * after use (WV_PAIR_NO_REASON). @pair may be NULL.
 */
void wv_pairs_differ(struct wv_pairs *p, struct wv_pair *pair, uint32_t create,
		     enum wv_pair_why why);

/* The connection of the program that has @pair ends; @pair->end hears of the end of its process. */
void wv_pairs_disconnect(struct wv_pair *pair);

/* The program that has @pair has ended; or it cannot be known when it does, and is told. */
void wv_pairs_leave(struct wv_pairs *p, struct wv_pair *pair);

/*
 * Whether the program that gets @lease of @recipe is to be asked how it connects: that costs it
 * some time as it starts. @p may be NULL.
 */
bool wv_pairs_wants_report(const struct wv_pairs *p, struct wv_recipe *recipe,
			   const struct wv_pooled_lease *lease);

/*
 * A program with a lease has connected a queue pair. @moves passed wv_validate_moves(); the
 * peer and both GIDs are filled in here, from the device @ibdev.
 */
void wv_pairs_report(struct wv_pairs *p, const char *ibdev, struct wv_edge_report *report,
		     struct wv_cmdlog *moves);
