/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constant answers: what a device answers in the same way to everybody for as long as it exists. A
 * program without a lease gets them, so that it need not ask the hardware when it opens the device.
 * They are learned from leases, that is from the kernel's answers to the daemon, never from the
 * answers to another program.
 *
 * The questions come from recipes, so they could carry messages between tenants, or crowd out those
 * of others. Therefore a tenant gets the answers to its own questions, of which it has a quota, and
 * to those that two tenants have asked.
 */
#pragma once

#include "cmdlog/writer.h"
#include "daemon/tenants/tenant.h"

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

/*
 * Bytes of steps, for one device. A step counts for both who asked it first. A provider asks up to
 * five questions, each with an answer of 4 KiB.
 */
#define WV_CONSTANTS_QUOTA  (24u * 1024) /* of one tenant */
#define WV_CONSTANTS_COMMON (48u * 1024) /* given to all */
#define WV_CONSTANTS_ALL    (256u * 1024)

struct wv_asker { /* a tenant, which may be gone by now */
	uid_t uid;
	uint64_t container;
};

struct wv_constant {
	TAILQ_ENTRY(wv_constant) link;
	struct wv_asker askers[2];
	unsigned int n_askers;	    /* 2: it is given to all */
	_Alignas(8) uint8_t step[]; /* a struct wv_step with its attributes */
};

TAILQ_HEAD(wv_constant_list, wv_constant);

/* The answers of one device. */
struct wv_constants {
	SLIST_ENTRY(wv_constants) link;
	dev_t rdev;
	uint32_t driver_id;
	struct wv_constant_list answers; /* oldest first */
	size_t bytes, common_bytes;	 /* of the steps: all, and the common ones */
	_Alignas(8)
	    uint8_t composed[sizeof(struct wv_cmdlog) + WV_CONSTANTS_QUOTA + WV_CONSTANTS_COMMON];
};

SLIST_HEAD(wv_all_constants, wv_constants);

/* Notes the new constant answers in @lease, a lease that @tenant has of the device @rdev. */
void wv_constants_learn(struct wv_all_constants *all, dev_t rdev, const struct wv_tenant *tenant,
			struct wv_cmdlog *lease);

/*
 * A WV_LEASE command log of the answers of @rdev for @tenant, without any object; NULL if none are
 * known. Valid until the next call.
 */
struct wv_cmdlog *wv_constants_of(struct wv_all_constants *all, dev_t rdev,
				  const struct wv_tenant *tenant);

/* The device is being removed: its number may be given to another device. */
void wv_constants_drop(struct wv_all_constants *all, dev_t rdev);

/* Drops the answers of all devices. */
void wv_constants_drop_all(struct wv_all_constants *all);
