/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a provider module (preload/NAME) does for the contexts of its driver. preload/providers.c
 * lists the modules; src/abi holds what is known of a driver's commands.
 */
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wv_context;

/* A library with functions that this library interposes: its name, and how theirs begin. */
struct wv_library {
	char name[16];
	char prefix[8];
};

/* A queue of the kernel that the provider maps from its ufile. */
struct wv_ring {
	uint64_t offset; /* in the ufile */
	size_t bytes;	 /* 0: there is no such queue */
	void *at;	 /* NULL: not mapped, or the mapping was not seen */
};

/*
 * For a driver whose queue pairs lose the posted receives when they are moved to RESET: puts them
 * back. Nothing is to be posted to the queue pair meanwhile.
 */
struct wv_receives {
	/* The receive queue of the queue pair that was made by @create, the answered command. */
	void (*find)(const struct ib_uverbs_ioctl_hdr *create, struct wv_ring *ring);
	/*
	 * Copies the receives that were posted and have not completed. *@saved is then the
	 * caller's, for restore() or free(); NULL: there are none. Returns 0 or -errno: the queue
	 * pair must not be moved to RESET.
	 */
	int (*save)(const struct wv_ring *ring, void **saved);
	/* Posts @saved (may be NULL) again and frees it. The queue pair is in INIT. */
	void (*restore)(const struct wv_ring *ring, void *saved);
};

/*
 * A function may be NULL if there is nothing to do. All are called with no lock held, unless they
 * say otherwise.
 */
struct wv_provider {
	uint32_t driver_id;		    /* enum rdma_driver_id */
	const struct wv_library *direct;    /* its verbs that are not libibverbs'; may be NULL */
	const struct wv_receives *receives; /* NULL: a queue pair keeps them in RESET */
	/*
	 * Whether environment variables choose the memory of queues. That choice must not be
	 * overridden, so such a program gets no lease.
	 */
	bool (*queues_are_chosen)(void);
	/*
	 * Makes the provider of @verbs ask this library for the memory of its queues, unless
	 * environment variables choose it. False: this cannot be done, and the context stops
	 * adopting and recording.
	 */
	bool (*place_queues)(struct ibv_context *verbs, struct wv_context *c);
	/* Whether environment variables tell the provider that the process has one thread. */
	bool (*is_for_one_thread)(void);
	/*
	 * Whether the provider should find the file at @path unreadable inside ibv_open_device().
	 */
	bool (*hides_file)(const char *path);
	/* In a forked child, with the lock of the control path held. */
	void (*forked)(void);
};
