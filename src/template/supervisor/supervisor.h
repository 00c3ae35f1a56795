/* SPDX-License-Identifier: BSD-2-Clause */
/* A supervisor: one template, its waiting children, and the starts that go on. */
#pragma once

#include "template/supervisor/children.h"
#include "template/supervisor/template_process.h"

#include <stdbool.h>
#include <stdint.h>

struct wv_supervisor_options {
	struct wv_template_program program;
	const char *socket;  /* where clients connect */
	uint32_t most_ready; /* children that wait, at most WV_READY_MOST */
	uint64_t memory;     /* that they may have for themselves, all together, in bytes */
	bool is_named;	     /* it was started for a client, which finds the reason if it fails */
	uint32_t idle_s;     /* after so long without a start, or before it is ready, it ends */
};

/*
 * Runs until the template is of no use any more and all starts have ended. Returns 0, or -errno if
 * there never was a template, and @why says why.
 */
int wv_supervise_template(const struct wv_supervisor_options *options, struct wv_reason_text *why);
