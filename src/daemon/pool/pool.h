/*
 * Leases made ahead, and the pool of those of one recipe.
 */
#pragma once

#include "cmdlog/replay.h"
#include "daemon/devices/devices.h"
#include "daemon/pool/policy.h"
#include "store/recipe.h"

#include <stdatomic.h>

#define WV_BUILD_TIMES 15
#define WV_WHY_BYTES   160 /* what happened, for people */

/* One lease, not yet handed out. It owns its descriptors. */
struct wv_pooled_lease {
	SLIST_ENTRY(wv_pooled_lease) link;
	struct wv_cmdlog *cmdlog; /* WV_LEASE */
	unsigned int n_fds; /* the command descriptor, the slots, the memory if there is any */
	int fds[2 + WV_CMDLOG_MAX_FDS];
	dev_t rdev;
};

struct wv_pool {
	struct wv_recipe *recipe;
	SLIST_HEAD(, wv_pooled_lease) ready;
	uint32_t n_ready, target;
	uint32_t n_building; /* leases under construction */
	struct wv_demand demand;
	unsigned int failures;	     /* replays that failed in a row */
	unsigned int contradictions; /* and those of them that the kernel answered otherwise */
	unsigned int n_failed;	     /* failures, ever */
	int64_t retry_us;	     /* not before */
	char error[WV_WHY_BYTES];    /* of the last failure; empty: none */
	uint32_t build_us[WV_BUILD_TIMES]; /* of the last leases, in a ring */
	uint32_t n_built;
};

/* The pool of @recipe, which was last used at @last_us of the steady clock. NULL: no memory. */
struct wv_pool *wv_pool_new(struct wv_recipe *recipe, int64_t last_us);
/* Frees an empty one. */
void wv_pool_free(struct wv_pool *pool);

/* Leases that are ready or will be. */
static inline uint32_t wv_pool_held(const struct wv_pool *pool)
{
	return pool->n_ready + pool->n_building;
}

/* Adds a new lease that took @build_us to make. */
void wv_pool_add(struct wv_pool *pool, struct wv_pooled_lease *ready, uint32_t build_us);
/* Takes a lease out, which is then the caller's; NULL if there is none. */
struct wv_pooled_lease *wv_pool_take(struct wv_pool *pool);
/* Puts an unused one back. */
void wv_pool_put(struct wv_pool *pool, struct wv_pooled_lease *ready);

/* How the commands of a lease reach the kernel. */
struct wv_issuer {
	wv_issue_fn issue;
	const atomic_bool *cancelled; /* once true, set by another thread, no more of them do */
};

/*
 * Carries out @recipe, a command log that passed wv_validate(), on @device. 0 and *@ready, the
 * caller's; -EPROTO if the kernel contradicts the recipe; -ECANCELED; -errno if it could not be
 * tried. @why then says what happened. Takes as long as the device does.
 */
int wv_pooled_lease_make(struct wv_cmdlog *recipe, const struct wv_device *device,
			 const struct wv_issuer *issuer, struct wv_pooled_lease **ready, char *why,
			 size_t capacity);
/* Closes its descriptors and frees it. */
void wv_pooled_lease_free(struct wv_pooled_lease *ready);

/* Median time that the last leases took to make, and the last one; 0 if there was none. */
uint32_t wv_pool_median_us(const struct wv_pool *pool);
uint32_t wv_pool_last_us(const struct wv_pool *pool);

/* The kernel's own: one ioctl on the descriptor that @kernel points to. */
int wv_issue(void *kernel, struct ib_uverbs_ioctl_hdr *cmd);
