/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The preload's trace for `warmverbs explain`: one record per control-plane command, appended to
 * the file that WARMVERBS_TRACE names. Times are CLOCK_MONOTONIC, in nanoseconds.
 */
#pragma once

#include "cmdlog/difference.h"

#define WV_TRACE_ENV   "WARMVERBS_TRACE"
#define WV_TRACE_MAGIC 0x43525457u /* "WTRC" */

enum wv_trace_kind {
	WV_TRACE_LIST,	   /* ibv_get_device_list() */
	WV_TRACE_OPEN,	   /* open() of a device node */
	WV_TRACE_COMMAND,  /* an ioctl */
	WV_TRACE_ROLLBACK, /* a QP put back to RESET because the program diverged */
	WV_TRACE_PURGE,	   /* an unadopted object destroyed because it blocked another */
	WV_TRACE_COPIED,   /* a child posted an lkey of memory that it has only a copy of */
};

enum wv_trace_how {
	WV_HOW_KERNEL,	  /* answered by the kernel */
	WV_HOW_ADOPTED,	  /* answered from the lease */
	WV_HOW_RECORDED,  /* answered by the kernel, and recorded */
	WV_HOW_PREFORKED, /* made by the parent before the fork */
	WV_HOW_SPARE,	  /* made ahead, because this process makes one after another */
	WV_HOW_PAIR,	  /* a move of a queue pair that came connected, from the lease */
};

struct wv_trace {
	uint32_t magic;
	uint16_t kind; /* enum wv_trace_kind */
	uint16_t how;  /* enum wv_trace_how */
	uint32_t pid, tid;
	uint64_t start, end;
	uint32_t driver_id; /* of the command */
	uint16_t object, method;
	uint32_t write_cmd;
	int32_t error;	   /* 0 or errno */
	uint16_t qp_state; /* WV_MODIFY: the state asked for */
	uint16_t no_lease; /* WV_TRACE_OPEN without a lease: enum wv_no_lease, 0: no daemon */
	struct wv_difference why; /* WV_TRACE_COPIED: the lkey, in offset */
	uint32_t reserved;
};

_Static_assert(sizeof(struct wv_trace) == 64, "one record is one atomic append");
