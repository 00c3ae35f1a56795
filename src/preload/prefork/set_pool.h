/* SPDX-License-Identifier: BSD-2-Clause */
/* The sets of a zygote, by script. Call everything here with the lock of the zygote held. */
#pragma once

#include "preload/prefork/child.h"
#include "preload/prefork/claim_slot.h"
#include "preload/prefork/published_scripts.h"
#include "preload/prefork/set.h"

#define WV_SET_POOL_SETS 64 /* of each script */

/* An offer ends if the child has not used it within this time. */
#define WV_SET_POOL_PATIENCE_MS 10000

/*
 * Makes a pool for each script that children have taught, and ends the pools of scripts that do not
 * fit any more.
 */
void wv_set_pools_learn(struct wv_published_scripts *scripts);

/*
 * Abandons one set that a child has claimed, and takes back the sets that children left unused.
 * Returns 1 if it ended a set; there may be more.
 */
int wv_set_pools_settle(uint64_t now_ms);

/* How many sets to make, and with what. */
struct wv_set_terms {
	unsigned int sets;		 /* of each script */
	struct ibv_device **devices;	 /* to open, with NULL at the end */
	const struct wv_fd_owner *owner; /* told when the program closes a descriptor of a set */
};

/*
 * Carries out one more verb towards the sets of each script that @terms ask for. Returns 1 if there
 * may be more to do; 0 if all sets are ready; -errno of the verb, whose script then pauses for a
 * while; or -EAGAIN if all scripts with something to do pause.
 */
int wv_set_pools_make(const struct wv_set_terms *terms, uint64_t now_ms);

/* Ends the pause of every script. */
void wv_set_pools_retry(void);

/* Whether there is a script that has no pool yet. */
bool wv_set_pools_have_news(const struct wv_published_scripts *scripts);

/* Ends the sets of each script beyond @n, except those offered to a child. */
void wv_set_pools_trim(unsigned int n);
/* Devices have come or gone: no set that there is now is of use. */
void wv_set_pools_part_from_devices(void);

/* Offers the next child one set of each script, and returns how many. */
unsigned int wv_set_pools_offer(struct wv_claim_slots *claim_slots,
				struct wv_offer offers[WV_CHILD_SETS], uint64_t now_ms);

/* Whether any offer is still open, or a claimed set is still to be abandoned. */
bool wv_set_pools_wait(void);

/* How many sets are ready. */
uint32_t wv_set_pools_ready(void);

/* The program closed @fd. */
void wv_set_pools_lose_fd(int fd);

/*
 * In a child: closes what it inherited of all sets except those in @offers, and forgets all pools.
 */
void wv_set_pools_leave(const struct wv_offer *offers, unsigned int n);
