/* SPDX-License-Identifier: BSD-2-Clause */
/* Records for `warmverbs explain`. Without WARMVERBS_TRACE, each call is a single test. */
#pragma once

#include "preload/core/context.h"
#include "wire/trace_record.h"

/* Opens the file that WARMVERBS_TRACE names, if it is set. Call once per process. */
void wv_trace_begin(void);

/* The same in a start of a template, which has closed the template's file, and has its own. */
void wv_trace_begin_anew(void);

bool wv_trace_is_on(void);

/* The time in nanoseconds, or 0 if nothing is traced. Like all functions below, keeps errno. */
uint64_t wv_trace_now(void);

void wv_trace_list(uint64_t start);
void wv_trace_open(uint64_t start, int fd);
/* The device was opened by the parent, before the fork. */
void wv_trace_preforked(uint64_t start);
void wv_trace_command(uint64_t start, const struct ib_uverbs_ioctl_hdr *cmd, uint32_t write_cmd,
		      enum wv_trace_how how, int error, struct wv_difference why);
/*
 * The program was given a queue pair that was made ahead (@state, enum ibv_qp_state: RESET), or one
 * was in @state already. @how: from a spare, or from a pair.
 */
void wv_trace_ahead(uint64_t start, enum wv_trace_how how, uint16_t state);
/* A post of registered memory of which this process has only a copy. */
void wv_trace_copied(uint32_t lkey);
/* WV_TRACE_ROLLBACK of a QP, or WV_TRACE_PURGE of an object of the kind @object. */
void wv_trace_rollback(uint64_t start, enum wv_trace_kind kind, uint16_t object, int error);
