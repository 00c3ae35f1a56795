/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loans: what a tenant is charged for a lease that a program has. A program can pass descriptors on
 * and end, so where there is memory the loan lasts until nobody has it any more: once the program
 * has ended, workers ask the kernel at growing intervals. They ask for one tenant at a time, since
 * who keeps pages in odd places makes that slow.
 */
#pragma once

#include "daemon/loop/workers.h"
#include "daemon/tenants/tenant.h"

#include <stdatomic.h>

struct wv_lender {
	/* Set by the owner. */
	sd_event *event;
	struct wv_workers *workers;
	uint64_t max_bytes;
	uint32_t max_fds; /* that watch leases */

	struct wv_use use; /* by all tenants */
	uint32_t n_fds;
	atomic_bool stopping;
	struct wv_line *line;		    /* for questions about memory */
	LIST_HEAD(, wv_borrower) borrowers; /* tenants that have memory */
};

struct wv_loan {
	SLIST_ENTRY(wv_loan) link;
	struct wv_lender *lender;
	struct wv_tenant *tenant;
	struct wv_cost cost;
	struct wv_borrower *borrower; /* NULL: there is no memory */
	int memory;		      /* an open file of its own, if there is a borrower */
	bool ended;		      /* nobody has it any more */
};

SLIST_HEAD(wv_loans, wv_loan);

/* Starts to answer questions. 0 or -errno. */
int wv_lender_start(struct wv_lender *lender);

/* Forgets all loans that were left. Harmless if it was not started. */
void wv_lender_stop(struct wv_lender *lender);

/* Whether one more descriptor can watch leases of @tenant. */
bool wv_lender_has_fd(const struct wv_lender *lender, const struct wv_tenant *tenant);

/* Charges a descriptor that watches leases of @tenant, or, if @n is -1, no longer does. */
void wv_lender_charge_fd(struct wv_lender *lender, struct wv_tenant *tenant, int n);

/*
 * Charges a lease of @cost to @tenant; @memory is its memory (wv_memory_open()), which stays the
 * caller's, or -1. 0 and *@loan; -EDQUOT if @tenant has no share left; or -errno.
 */
int wv_loan_make(struct wv_lender *lender, struct wv_tenant *tenant, const struct wv_cost *cost,
		 int memory, struct wv_loan **loan);

/* Ends @loan at once: the lease was not handed out after all. */
void wv_loan_end(struct wv_loan *loan);

/* The process that got the leases has ended. Each loan ends when its memory is no longer used. */
void wv_loans_leave(struct wv_loans *loans);
