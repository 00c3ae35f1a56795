#pragma once

#include "cmdlog/cmdlog.h"

/*
 * A command log under construction in memory of the caller's. Steps are appended; when the memory
 * is used up `full` is set, the step begun is dropped, and the command log stays a well-formed
 * prefix.
 */
struct wv_cmdlog_writer {
	struct wv_cmdlog *cmdlog;
	struct wv_step *step; /* open, or NULL */
	size_t capacity;
	int full;
};

void wv_cmdlog_begin(struct wv_cmdlog_writer *w, void *memory, size_t capacity, enum wv_form form,
		     uint32_t driver_id);
/* Opens a step of @n_attrs zeroed attributes; NULL if full. */
struct wv_step *wv_cmdlog_step(struct wv_cmdlog_writer *w, const struct wv_command_row *row,
			       unsigned int n_attrs);
/* Copies @len bytes (zeroes if @data is NULL) into the open step; their offset, or 0 if full. */
uint32_t wv_cmdlog_payload(struct wv_cmdlog_writer *w, const void *data, size_t len);
/* Closes the open step and makes it part of the command log, unless the command log became full on
 * the way. */
void wv_cmdlog_commit(struct wv_cmdlog_writer *w);
/* Appends a step of another command log of the same form and driver as it is, unless it does not
 * fit. */
void wv_cmdlog_copy(struct wv_cmdlog_writer *w, const struct wv_step *step);
/* Drops the open step. */
void wv_cmdlog_abandon(struct wv_cmdlog_writer *w);
