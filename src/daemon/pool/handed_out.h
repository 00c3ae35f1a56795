/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that received leases. The kernel charges a lease's memory to the daemon for as long as
 * it exists, so it counts here until the process has ended, which a pidfd tells, and then until
 * nobody else has the memory (pool/loan.h). Of the total a tenant has at most half of what the
 * others leave.
 */
#pragma once

#include "daemon/pool/loan.h"

#define WV_OUT_BUCKETS 256

/* For whoever is to hear that a process has ended. Unused: zeroed but for what the owner sets. */
struct wv_end_watch {
	LIST_ENTRY(wv_end_watch) link;
	struct wv_holder *holder; /* NULL: nothing is awaited */
	/* Set by the owner. */
	void (*ended)(struct wv_end_watch *watch);
	void *arg;
};

/* A process, or a connection, that received leases. */
struct wv_holder {
	LIST_ENTRY(wv_holder) link; /* of its bucket; of no list if it is a connection */
	struct wv_handed_out *all;
	struct wv_tenant *tenant;
	pid_t pid; /* 0: it is a connection */
	int pidfd;
	sd_event_source *source;
	struct wv_loans loans;
	LIST_HEAD(, wv_end_watch) watches;
};

struct wv_handed_out {
	struct wv_lender lender;
	LIST_HEAD(, wv_holder) buckets[WV_OUT_BUCKETS];
};

/* A lease that is charged. */
struct wv_charge {
	struct wv_holder *holder;
	struct wv_loan *loan;
};

/*
 * Charges a lease of @cost with @memory, as wv_loan_make() has them, to @tenant and the process at
 * the other end of the socket @peer. 0 and *@charge; -EDQUOT if @tenant has no share left; -ESRCH
 * if the process has ended; or -errno. If the process cannot be seen from here, being in another
 * PID namespace, the holder is the connection.
 */
int wv_handed_out_charge(struct wv_handed_out *o, struct wv_tenant *tenant, int peer,
			 const struct wv_cost *cost, int memory, struct wv_charge *charge);

/* The lease was not handed out after all. Its holder may be gone then. */
void wv_handed_out_refund(const struct wv_charge *charge);

/*
 * Has @watch->ended() called once the process at the other end of the socket @peer, for which
 * @tenant is charged, has ended. False: it has ended, or cannot be seen from here.
 */
bool wv_handed_out_watch(struct wv_handed_out *o, struct wv_tenant *tenant, int peer,
			 struct wv_end_watch *watch);

/* Harmless if nothing is awaited. */
void wv_end_unwatch(struct wv_end_watch *watch);

/* @holder if it is a connection, else NULL: a process may end at any time. */
struct wv_holder *wv_holder_of_connection(struct wv_holder *holder);

/* The connection that is @holder ends. Harmless if that is NULL. */
void wv_handed_out_disconnect(struct wv_holder *holder);

/* Forgets all processes: as if they had ended. */
void wv_handed_out_finish(struct wv_handed_out *o);
