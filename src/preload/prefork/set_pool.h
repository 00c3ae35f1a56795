/* SPDX-License-Identifier: BSD-2-Clause */
/* The sets of a zygote, by script. Call everything here with the lock of the zygote held. */
#pragma once

#include "preload/prefork/child.h"

#define WV_SET_POOL_SETS 64 /* of each script */

/*
 * Makes a pool for each script that children have taught, and ends the pools of scripts that do not
 * fit any more. Ends the sets of each script beyond @n, except those offered to a child.
 */
void wv_set_pools_update(struct wv_prefork_shm *shm, unsigned int n);

/*
 * Abandons one set that a child has claimed, or ends one that is of no use. If there is none,
 * carries out one more verb towards @n sets of each script; @owner is told when the program closes
 * a descriptor of a set. Returns 1 if there may be more to do; 0 if all sets are ready; -errno of
 * the verb, whose script then pauses for a while; -EAGAIN if all scripts with something to do
 * pause; or -errno: the devices cannot be listed.
 */
int wv_set_pools_step(unsigned int n, const struct wv_fd_owner *owner, uint64_t now_ms);

/* Ends the pause of every script. */
void wv_set_pools_retry(void);

/* Whether there is a script that has no pool yet. */
bool wv_set_pools_have_news(const struct wv_prefork_shm *shm);

/* Devices have come or gone: no set that there is now is of use. */
void wv_set_pools_part_from_devices(void);

/* Offers the next child one set of each script: adds them to @offers. */
void wv_set_pools_offer(struct wv_prefork_shm *shm, struct wv_offers *offers, uint64_t now_ms);

/* Whether any offer is still open, or a claimed set is still to be abandoned. */
bool wv_set_pools_wait(void);

/* How many sets are ready. */
uint32_t wv_set_pools_ready(void);

/* Looks at all sets for files that were closed or replaced unseen by this library. */
void wv_set_pools_look(void);

/* The program closed @fd. */
void wv_set_pools_lose_fd(int fd);

/*
 * In a child: closes what it inherited of all sets except those in @offers, and forgets all pools.
 */
void wv_set_pools_leave(const struct wv_offers *offers);
