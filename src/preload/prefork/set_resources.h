/*
 * What of the process a set of objects made ahead holds: descriptors and mappings. A child must
 * keep what it was offered and let go of the rest, since each keeps the kernel's objects alive.
 */
#pragma once

#include "preload/core/provider.h"

#include <stddef.h>

struct wv_fd_owner;

#define WV_RESOURCES_FDS 16

struct wv_range {
	uintptr_t start, end;
	uint32_t kind; /* enum wv_range_kind */
};

/* Descriptors are guarded by the lock of the control path, the rest by that of who has the set. */
struct wv_resources {
	const struct wv_fd_owner *owner; /* who is told when the program closes one of them */
	int fds[WV_RESOURCES_FDS];	 /* -1: the program closed it */
	uint16_t n_fds, n_ranges;
	bool closed; /* the program closed a descriptor of it: the number may be its own now */
	bool lost;   /* so it is, or it takes more than there is */
	struct wv_range *ranges; /* of malloc() */
};

/*
 * Notes a descriptor of libibverbs' that is in the set. Unless it is tracked already it is from now
 * on the preload's own. Takes the lock of the control path.
 */
void wv_resources_add_fd(struct wv_resources *resources, int fd);

/*
 * Notes a mapping of @resources, a struct wv_resources, and keeps it from children for now. As of
 * struct wv_maker (core/scope.h).
 */
void wv_resources_mapped(void *resources, void *at, size_t bytes, int fd);

/* Lets the next child inherit all of it, or no child any more. */
void wv_resources_offer(const struct wv_resources *resources);
void wv_resources_withhold(const struct wv_resources *resources);

/* The descriptors are the program's now: nothing of ours any more. */
void wv_resources_give_fds(const struct wv_resources *resources);

/* Whether @fd is one of it, which is then lost. Call with the lock of the control path held. */
bool wv_resources_lose_fd(struct wv_resources *resources, int fd);

/* Private memory takes the place of the queues, which are another process's. */
void wv_resources_part_from_queues(const struct wv_resources *resources);

/* Closes what is left, and unmaps what keeps the kernel's objects alive. */
void wv_resources_drop(const struct wv_resources *resources);

/*
 * Unmaps ranges of these kinds. A child inherited WV_RANGE_IO of all sets, and WV_RANGE_ALL of what
 * it was offered.
 */
void wv_resources_unmap(const struct wv_resources *resources, unsigned int kinds);
