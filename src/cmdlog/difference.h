/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a command was not adopted.
 */
#pragma once

#include <stdint.h>

/* Why a command was not adopted; names in wv_why_name(). */
enum wv_why {
	WV_WHY_NONE,	 /* adopted */
	WV_WHY_PASS,	 /* such a command always goes to the kernel */
	WV_WHY_NO_LEASE, /* it was opened plainly, or the lease is the parent's */
	WV_WHY_STOPPED,	 /* an unknown command came before: the lease is no longer used */
	WV_WHY_UNKNOWN,	 /* warmverbs does not know the command */
	WV_WHY_NO_STEP,	 /* the recipe has no such step left */
	WV_WHY_SHAPE,	 /* same command, other attributes or sizes */
	WV_WHY_VALUE,	 /* same command, another value */
	/* Of a queue pair that was connected ahead: */
	WV_WHY_OTHER_PEER,  /* the program connects it to another one */
	WV_WHY_PEER_GONE,   /* its peer exists no more, or is connected otherwise */
	WV_WHY_OTHER_MOVES, /* the program connects it with other attributes, or looked at it */
	WV_WHYS
};

struct wv_difference {
	uint16_t why;	 /* enum wv_why */
	uint16_t attr;	 /* attribute id, for SHAPE and VALUE */
	uint32_t offset; /* byte inside its payload, for VALUE */
};

const char *wv_why_name(enum wv_why why);
