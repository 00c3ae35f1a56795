/*
 * The sets of a zygote, by script. Everything here is called with the lock of the zygote held.
 */
#pragma once

#include "preload/prefork/child.h"
#include "preload/prefork/claim_slot.h"
#include "preload/prefork/published_scripts.h"
#include "preload/prefork/set.h"

#define WV_SET_POOL_SETS 64 /* of each script */

/* A child that has not used what it was offered within this time does without. */
#define WV_SET_POOL_PATIENCE_MS 10000

/*
 * Makes pools of what children have taught, and ends those of scripts that do not fit them any
 * more.
 */
void wv_set_pools_learn(struct wv_published_scripts *scripts);

/*
 * Lets go of the next set that a child has, and takes back those that children left unused. Returns
 * 1 if it let go of one: there may be more.
 */
int wv_set_pools_settle(uint64_t now_ms);

/* What is to be made, and with what. */
struct wv_set_terms {
	unsigned int sets;		 /* of each script */
	struct ibv_device **devices;	 /* to open, ended by NULL */
	const struct wv_fd_owner *owner; /* of the descriptors of sets */
};

/*
 * Goes one verb further towards the sets of each script that @terms ask for. 1: there may be more
 * to do; 0: all is there; -errno of the verb, whose script is left alone for a while; or -EAGAIN
 * if all that there is to do is left alone at present.
 */
int wv_set_pools_make(const struct wv_set_terms *terms, uint64_t now_ms);

/* What was left alone is tried at once. */
void wv_set_pools_retry(void);

/* Whether there is a script that has no pool yet. */
bool wv_set_pools_have_news(const struct wv_published_scripts *scripts);

/* Ends the sets of each script beyond @n, of those that no child has. */
void wv_set_pools_trim(unsigned int n);
/* Ends the sets of devices that are gone. */
void wv_set_pools_part_from_devices(void);

/* Offers the next child a set of each script; how many. */
unsigned int wv_set_pools_offer(struct wv_claim_slots *claim_slots,
				struct wv_offer offers[WV_CHILD_SETS], uint64_t now_ms);

/* Whether a child has an offer that it did not use yet, or has a set that is still held here. */
bool wv_set_pools_wait(void);

/* How many sets wait. */
uint32_t wv_set_pools_ready(void);

/* The program closed @fd. */
void wv_set_pools_lose_fd(int fd);

/*
 * In a child: closes what it inherited of all sets but those in @offers, and forgets all pools.
 */
void wv_set_pools_leave(const struct wv_offer *offers, unsigned int n);
