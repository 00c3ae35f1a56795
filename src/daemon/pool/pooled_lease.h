/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pooled lease: a recipe carried out ahead of time, not yet handed to a program.
 */
#pragma once

#include "base/fds.h"
#include "cmdlog/replay.h"
#include "daemon/devices/devices.h"
#include "daemon/loop/workers.h"
#include "daemon/tenants/tenant.h"

#include <stdatomic.h>
#include <sys/queue.h>

#define WV_WHY_BYTES 160 /* room for a reason in plain text */

/* The lease owns its descriptors and its command log. */
struct wv_pooled_lease {
	SLIST_ENTRY(wv_pooled_lease) link;
	struct wv_cmdlog *cmdlog; /* WV_LEASE */
	struct wv_fds fds; /* the command descriptor, the slots, the memory if there is any */
	bool has_memory;
	dev_t rdev;
	struct wv_lease_pair pair;
	struct wv_work end; /* of the builders */
	/* The loop's: */
	struct wv_tenant *tenant; /* who holds it; NULL: nobody */
	struct wv_cost cost;
};

/* How the commands of a lease reach the kernel. */
struct wv_issuer {
	wv_issue_fn issue;
	const atomic_bool *cancelled; /* set by another thread: no further command is issued */
};

/* Issues @cmd with one ioctl on the descriptor that @kernel points to. 0 or a positive errno. */
int wv_issue(void *kernel, struct ib_uverbs_ioctl_hdr *cmd);

/*
 * Carries out @recipe, a command log that passed wv_validate(), on @device. This takes as long as
 * the device takes. 0 and *@lease, which is the caller's; -EPROTO if the kernel's answers
 * contradict the recipe; -ECANCELED; or -errno if the recipe could not be tried. On failure @why
 * says what happened.
 */
int wv_pooled_lease_make(struct wv_cmdlog *recipe, const struct wv_device *device,
			 const struct wv_issuer *issuer, struct wv_pooled_lease **lease,
			 char why[static WV_WHY_BYTES]);

/* The memory of @lease, which has its descriptors yet, or -1: there is none. */
int wv_pooled_lease_memory(const struct wv_pooled_lease *lease);

/*
 * Closes the descriptors of @lease, which takes as long as the device takes, if that was not done;
 * releases the lease and frees it.
 */
void wv_pooled_lease_free(struct wv_pooled_lease *lease);
