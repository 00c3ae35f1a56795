/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leases that programs have. The kernel charges their memory to the daemon for as long as they
 * exist, so it counts here until the process that received the lease has ended, which a pidfd
 * tells. Of the total a tenant has at most half of what the others leave.
 */
#pragma once

#include "daemon/tenants/tenant.h"

#include <systemd/sd-event.h>

#define WV_OUT_BUCKETS 256

/* A process, or a connection, that received leases. */
struct wv_holder {
	LIST_ENTRY(wv_holder) link; /* of its bucket; of no list if it is a connection */
	struct wv_handed_out *all;
	struct wv_tenant *tenant;
	pid_t pid; /* 0: it is a connection */
	int pidfd;
	sd_event_source *source;
	struct wv_use use;
};

struct wv_handed_out {
	/* Set by the owner; all of it outlives this. */
	sd_event *event;
	uint64_t max_bytes;
	uint32_t max_processes; /* each takes a descriptor */

	struct wv_use use; /* by all tenants */
	uint32_t n_processes;
	bool old_kernel; /* it has no SO_PEERPIDFD */
	LIST_HEAD(, wv_holder) buckets[WV_OUT_BUCKETS];
};

/*
 * Charges a lease of @cost to @tenant until the process at the other end of the socket @peer has
 * ended. 0 and *@holder; -EDQUOT if @tenant has no share left; -ESRCH if the process has ended; or
 * -errno. If the process cannot be seen from here, being in another PID namespace, the holder is
 * the connection, which ends it.
 */
int wv_handed_out_charge(struct wv_handed_out *o, struct wv_tenant *tenant, int peer,
			 const struct wv_cost *cost, struct wv_holder **holder);

/* The lease was not handed out after all. @holder may be gone then. */
void wv_handed_out_refund(struct wv_holder *holder, const struct wv_cost *cost);

/* @holder if it is a connection, else NULL: a process may end at any time. */
struct wv_holder *wv_holder_of_connection(struct wv_holder *holder);

/* The connection that is @holder ends. Harmless if that is NULL. */
void wv_handed_out_disconnect(struct wv_holder *holder);

/* Forgets all processes. */
void wv_handed_out_finish(struct wv_handed_out *o);
