/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a supervisor and its template say to each other, and what the template inherits from the
 * supervisor. A supervisor runs no code of the program: so it reports how starts ended, whatever
 * happens to the template.
 */
#pragma once

#include "base/because.h"

#include <stdint.h>

/* Descriptors of the template, and of its children until they have become a program. */
enum {
	WV_TEMPLATE_LISTENER = 3, /* clients connect to it, and waiting children accept them */
	WV_TEMPLATE_CONTROL,	  /* SOCK_SEQPACKET to the supervisor */
	WV_TEMPLATE_PROOF,	  /* a file that the supervisor has made; see WV_START_PROOF */
	WV_TEMPLATE_CHANGES,	  /* inotify(7): readable once a file of the program has changed */
	WV_TEMPLATE_BEHIND,
};

/* The exit status of a child that a client has asked, and that could not become what it wanted. */
#define WV_CHILD_FAILED 3

/*
 * Set in a process that is to be a template: to where it stops ("main" or "point"), a colon, and
 * the variable LD_PRELOAD as it would be if it were not to be one, or nothing.
 */
#define WV_TEMPLATE_ENV "WARMVERBS_TEMPLATE"

enum wv_control_word {
	/* From the supervisor to the template. */
	WV_CONTROL_MAKE = 1, /* @value children */
	/* From the template. */
	WV_CONTROL_READY,  /* it is one now */
	WV_CONTROL_CANNOT, /* it cannot be one; @why says why */
	WV_CONTROL_MADE,   /* a child, whose pid is @value */
	WV_CONTROL_DONE,   /* no more of them for now */
	/* From a child. */
	WV_CONTROL_STARTED, /* @value is its pid; carries the client's connection */
};

struct wv_control {
	uint32_t word; /* enum wv_control_word */
	int32_t value;
	struct wv_reason_text why;
};
