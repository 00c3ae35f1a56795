/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool that this process requested. The request lasts as long as its connection. All functions
 * take the lock, except the last, which is called with it held.
 */
#pragma once

#include "warmverbs.h"

/*
 * Requests a pool of @leases, or changes its size. Returns 0, or -errno if there is no pool request
 * now.
 */
int wv_client_request_pool(unsigned int leases);

/* Ends the pool request. */
void wv_client_end_pool(void);

/*
 * Fills in the daemon's last answer; zeros if there is no pool request, or the daemon has ended it.
 */
void wv_client_pool_state(struct wv_status *status);

/* In a forked child, with the lock held: the pool request is the parent's. */
void wv_client_pool_forked(void);
