/* Records for `warmverbs explain`; without WARMVERBS_TRACE each call is one test. */
#pragma once

#include "preload/core/context.h"
#include "wire/trace_record.h"

/* Opens the file that WARMVERBS_TRACE names, if it names one. Once per process. */
void wv_trace_begin(void);
bool wv_trace_is_on(void);

/* Now in nanoseconds, or 0 if nothing is traced. Keeps errno, as all of these do. */
uint64_t wv_trace_now(void);

void wv_trace_list(uint64_t start);
void wv_trace_open(uint64_t start, int fd);
/* The device was opened by the parent, before the fork. */
void wv_trace_preforked(uint64_t start);
void wv_trace_command(uint64_t start, const struct ib_uverbs_ioctl_hdr *cmd, uint32_t write_cmd,
		      enum wv_trace_how how, int error, struct wv_difference why);
/* A post of registered memory that this process has a copy of. */
void wv_trace_copied(uint32_t lkey);
/* WV_TRACE_ROLLBACK of a QP, or WV_TRACE_PURGE of an object of @object's kind. */
void wv_trace_rollback(uint64_t start, enum wv_trace_kind kind, uint16_t object, int error);
