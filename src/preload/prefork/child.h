/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This process as a child: the contexts that belong to a set or a script, which are offered by the
 * parent, claimed, or learned from. If there are none, nothing to teach, and no copy of a device
 * list, wv_child_tracks is false, and verbs go straight to libibverbs.
 */
#pragma once

#include "preload/prefork/prefork_shm.h"
#include "preload/prefork/set.h"

enum wv_role {
	WV_OFFERED,  /* not opened by this process yet */
	WV_CLAIMED,  /* this process uses the context */
	WV_LEARNING, /* this process teaches the script */
};

struct wv_tracked {
	uint8_t role; /* enum wv_role */
	bool judged;  /* whether the script fits was reported */
	bool stopped; /* nothing more is claimed from the set */
	struct wv_set *set;
	struct wv_prefork_shm *shm;	  /* the script is published there */
	const void *rehearsal;		  /* of which thread; NULL: of none */
	struct wv_claim_slot *claim_slot; /* OFFERED; NULL: its maker has the set */
	uint64_t state;			  /* of the claim slot */
	pid_t maker;			  /* of a set without one */
	struct wv_claims claims;	  /* CLAIMED */
};

/* The sets that a child is offered: one of each script. */
struct wv_offers {
	unsigned int n;
	struct wv_offer {
		struct wv_set *set;
		struct wv_claim_slot *claim_slot; /* NULL: only this process has the set */
		uint64_t state;			  /* of the claim slot */
	} all[WV_PUBLISHED_SCRIPTS];
};

extern bool wv_child_tracks;

static inline bool wv_child_is_tracking(void)
{
	return __builtin_expect(__atomic_load_n(&wv_child_tracks, __ATOMIC_RELAXED), 0);
}

/* Guards what prefork knows of this process as a child. Taken before any other lock. */
void wv_child_lock(void);
void wv_child_unlock(void);

/* The tracked context of @context, or NULL. Call this and the next two with the lock held. */
struct wv_tracked *wv_tracked_find(const struct ibv_context *context);

/*
 * The tracked context of @context if this process claimed it, or NULL. If a script is being learned
 * there, it is complete now.
 */
struct wv_tracked *wv_tracked_claimed(const struct ibv_context *context);

/* The script is complete: publishes it, and stops tracking the context. */
void wv_tracked_finish(struct wv_tracked *tracked);

/*
 * In a child, before anything else runs in it: the child may use the sets in @offers, and it
 * teaches scripts that are not in @shm yet (NULL: it teaches none). Forgets the offers and scripts
 * that the parent itself had. Call with the lock held.
 */
void wv_child_begin(const struct wv_offers *offers, struct wv_prefork_shm *shm);

/* The descriptors of sets that are offered: at most @most, to @fds. Returns how many. */
unsigned int wv_child_offered_fds(int *fds, unsigned int most);

/* This process does without the sets that it has made for itself, and teaches no scripts. */
void wv_child_withdraw(void);

/*
 * Until wv_child_end_rehearsal(), what this thread does with devices is taught to @shm, as if the
 * thread were a child of this process.
 */
void wv_child_rehearse(struct wv_prefork_shm *shm);
void wv_child_end_rehearsal(void);

/* The next functions list, open and close devices while wv_child_is_tracking() is true. */

/*
 * A copy of the parent's device list, if an offered set is unused. NULL: the caller must list the
 * devices.
 */
struct ibv_device **wv_child_list(int *n);
/* Frees such a copy. False: @list is from libibverbs. */
bool wv_child_end_list(struct ibv_device **list);

/* ibv_open_device(): a context from an offered set, or else a new one. */
struct ibv_context *wv_child_open(struct ibv_device *device);

/* ibv_close_device(). */
int wv_child_close(struct ibv_context *context);

/*
 * The program asks @context for something that no set has, such as queues in memory of its own.
 * From now on it claims nothing from the set of @context.
 */
void wv_child_stop(struct ibv_context *context);

/* The program closed @fd, which may belong to an unused set: the set is given back. */
void wv_child_lose_fd(int fd);

/* The process ends: publishes the scripts that it is teaching. */
void wv_child_end(void);
