/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building a command log, in the caller's memory, by appending steps. When the memory is used up,
 * `full` is set and the open step is dropped; the command log stays well-formed.
 */
#pragma once

#include "cmdlog/cmdlog.h"

struct wv_cmdlog_writer {
	struct wv_cmdlog *cmdlog;
	struct wv_step *step; /* open, or NULL */
	size_t capacity;
	int full;
};

void wv_cmdlog_begin(struct wv_cmdlog_writer *w, void *memory, size_t capacity, enum wv_form form,
		     uint32_t driver_id);
/* Goes on with a command log that passed wv_cmdlog_check(), which has room for @capacity bytes. */
void wv_cmdlog_resume(struct wv_cmdlog_writer *w, struct wv_cmdlog *cmdlog, size_t capacity);
/* Opens a step of @n_attrs zeroed attributes; NULL if full. */
struct wv_step *wv_cmdlog_step(struct wv_cmdlog_writer *w, const struct wv_command_row *row,
			       unsigned int n_attrs);
/* Copies @len bytes (zeroes if @data is NULL) into the open step; their offset, or 0 if full. */
uint32_t wv_cmdlog_payload(struct wv_cmdlog_writer *w, const void *data, size_t len);
/* Closes the open step and adds it to the command log, unless that is full. */
void wv_cmdlog_commit(struct wv_cmdlog_writer *w);
/* Appends a copy of a step of another command log of the same form and driver, if it fits. */
void wv_cmdlog_copy(struct wv_cmdlog_writer *w, const struct wv_step *step);
/* Drops the open step. */
void wv_cmdlog_abandon(struct wv_cmdlog_writer *w);
