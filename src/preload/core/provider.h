/*
 * What the room of a provider (preload/NAME) does for the contexts of its driver. The
 * rooms are listed in preload/providers.c; what is known of a driver's commands stands in src/abi.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct wv_context;

/* What a mapping of a ufile is. Bits, to name several. */
enum wv_range_kind {
	WV_RANGE_KERNEL = 1, /* memory of the kernel */
	WV_RANGE_IO = 2,     /* pages of the adapter, VM_IO: MADV_DOFORK is refused */
	WV_RANGE_QUEUES = 4, /* of no ufile: shared memory that queues lie in */
	WV_RANGE_UFILE = WV_RANGE_KERNEL | WV_RANGE_IO,
	WV_RANGE_ALL = WV_RANGE_UFILE | WV_RANGE_QUEUES,
};

/* Functions may be NULL where there is nothing to do. All are called with no lock held. */
struct wv_provider {
	uint32_t driver_id;		 /* enum rdma_driver_id */
	enum wv_range_kind ufile_memory; /* what its mappings of a ufile are */
	/*
	 * Whether the environment chooses the memory of queues. That choice must not be overridden,
	 * so such a program gets no lease.
	 */
	bool (*queues_are_chosen)(void);
	/*
	 * Makes the provider of @verbs ask this library for the memory of its queues, unless the
	 * environment chooses it. Where that cannot be done (false), the context is followed no
	 * further.
	 */
	bool (*place_queues)(struct ibv_context *verbs, struct wv_context *c);
	/* Whether the file at @path is to seem unreadable to the provider inside ibv_open_device().
	 */
	bool (*hides_file)(const char *path);
	/* In a forked child, with the lock of the control path held. */
	void (*forked)(void);
};
