/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One record of a trace, for people; and why a device was opened without a lease.
 */
#pragma once

#include "wire/trace_record.h"

#include <stdio.h>

#define WV_EVENT_TEXT 96

/* What the program did: "QP_CREATE", "modify_qp to INIT". */
const char *wv_event_what(const struct wv_trace *event, char text[static WV_EVENT_TEXT]);

/* What answered: "lease", "kernel", ... */
const char *wv_event_by(const struct wv_trace *event);

/* Why the lease did not answer, and the error if there was one; may be empty. */
const char *wv_event_why(const struct wv_trace *event, char text[static WV_EVENT_TEXT]);

/* Why a device was opened without a lease, and what to do about it. */
struct wv_no_lease_row {
	const char *name; /* short, also in JSON */
	const char *cause, *remedy;
};

/* The row of @reason: an enum wv_no_lease, or 0 if no daemon was asked. Never NULL. */
const struct wv_no_lease_row *wv_no_lease(unsigned int reason);
