/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a device was opened without a lease, and what to do about it.
 */
#pragma once

struct wv_no_lease_row {
	const char *name; /* short, also in JSON */
	const char *cause, *remedy;
};

/* The row of @reason: an enum wv_no_lease, or 0 if no daemon was asked. Never NULL. */
const struct wv_no_lease_row *wv_no_lease(unsigned int reason);
