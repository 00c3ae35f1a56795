/*
 * What the preload tells `warmverbs explain`: one record per control-plane command, appended to the
 * file that WARMVERBS_TRACE names. Times are CLOCK_MONOTONIC, in nanoseconds.
 */
#pragma once

#include "cmdlog/adopt.h"

#define WV_TRACE_ENV   "WARMVERBS_TRACE"
#define WV_TRACE_MAGIC 0x43525457u /* "WTRC" */

enum wv_trace_kind {
	WV_TRACE_LIST,	   /* ibv_get_device_list() */
	WV_TRACE_OPEN,	   /* open() of a device node; how says from where */
	WV_TRACE_COMMAND,  /* an ioctl */
	WV_TRACE_ROLLBACK, /* a QP put back to RESET because the program went another way */
	WV_TRACE_PURGE,	   /* an unadopted object destroyed because it was in the way */
	WV_TRACE_COPIED,   /* posted by a child: registered memory that it has a copy of; lkey */
};

enum wv_trace_how {
	WV_HOW_KERNEL,	  /* asked of the kernel */
	WV_HOW_ADOPTED,	  /* answered from the lease */
	WV_HOW_RECORDED,  /* asked of the kernel, and recorded */
	WV_HOW_PREFORKED, /* made by the parent before the fork */
};

struct wv_trace {
	uint32_t magic;
	uint16_t kind; /* enum wv_trace_kind */
	uint16_t how;  /* enum wv_trace_how */
	uint32_t pid, tid;
	uint64_t start, end;
	uint16_t object, method;
	uint32_t write_cmd;
	int32_t error;	   /* 0 or errno */
	uint16_t qp_state; /* WV_MODIFY: the state asked for */
	uint16_t no_lease; /* WV_TRACE_OPEN without a lease: enum wv_no_lease, 0: no daemon */
	struct wv_difference why; /* WV_TRACE_COPIED: the lkey, in offset */
};

_Static_assert(sizeof(struct wv_trace) == 56, "one record is one atomic append");
