/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a provider module (preload/NAME) does for the contexts of its driver. preload/providers.c
 * lists the modules; src/abi holds what is known of a driver's commands.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct wv_context;

/* The kinds of mappings of a set. They are bits, so that several can be named at once. */
enum wv_range_kind {
	WV_RANGE_KERNEL = 1, /* memory of the kernel */
	WV_RANGE_IO = 2,     /* pages of the adapter, VM_IO: MADV_DOFORK is refused */
	WV_RANGE_QUEUES = 4, /* not of a ufile: shared memory of queues */
	WV_RANGE_UFILE = WV_RANGE_KERNEL | WV_RANGE_IO,
	WV_RANGE_ALL = WV_RANGE_UFILE | WV_RANGE_QUEUES,
};

/*
 * A function may be NULL if there is nothing to do. All are called with no lock held, unless they
 * say otherwise.
 */
struct wv_provider {
	uint32_t driver_id;		 /* enum rdma_driver_id */
	enum wv_range_kind ufile_memory; /* the kind of its mappings of a ufile */
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
	/*
	 * Whether the provider should find the file at @path unreadable inside ibv_open_device().
	 */
	bool (*hides_file)(const char *path);
	/* In a forked child, with the lock of the control path held. */
	void (*forked)(void);
};
