/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/writer.h"

#include "base/base.h"

#include <string.h>

void wv_cmdlog_begin(struct wv_cmdlog_writer *w, void *memory, size_t capacity, enum wv_form form,
		     uint32_t driver_id)
{
	struct wv_cmdlog *cmdlog = memory;

	*cmdlog = (struct wv_cmdlog){
	    .magic = WV_CMDLOG_MAGIC,
	    .format = WV_CMDLOG_FORMAT,
	    .form = form,
	    .bytes = sizeof(*cmdlog),
	    .driver_id = driver_id,
	};
	wv_cmdlog_resume(w, cmdlog, capacity);
}

void wv_cmdlog_resume(struct wv_cmdlog_writer *w, struct wv_cmdlog *cmdlog, size_t capacity)
{
	*w = (struct wv_cmdlog_writer){
	    .cmdlog = cmdlog,
	    .capacity = capacity < WV_CMDLOG_MAX_BYTES ? capacity : WV_CMDLOG_MAX_BYTES,
	};
}

/* Adds @bytes zeros to the open step; their offset from the step, or 0 if full. */
static uint32_t reserve(struct wv_cmdlog_writer *w, size_t bytes)
{
	size_t used = (size_t)((uint8_t *)w->step - (uint8_t *)w->cmdlog) + w->step->bytes;
	uint32_t offset = w->step->bytes;

	bytes = WV_ALIGN8(bytes);
	if (bytes > w->capacity || used > w->capacity - bytes) {
		w->full = 1;
		return 0;
	}
	memset(wv_step_at(w->step, offset), 0, bytes);
	w->step->bytes += (uint32_t)bytes;
	return offset;
}

struct wv_step *wv_cmdlog_step(struct wv_cmdlog_writer *w, const struct wv_command_row *row,
			       unsigned int n_attrs)
{
	size_t need = sizeof(struct wv_step) + n_attrs * sizeof(struct wv_attr);

	w->step = NULL;
	if (w->full || n_attrs > WV_CMDLOG_MAX_ATTRS || w->cmdlog->n_steps == WV_CMDLOG_MAX_STEPS ||
	    need > w->capacity - w->cmdlog->bytes) {
		w->full = 1;
		return NULL;
	}
	w->step = (struct wv_step *)((uint8_t *)w->cmdlog + w->cmdlog->bytes);
	memset(w->step, 0, need);
	w->step->bytes = (uint32_t)need;
	w->step->object = row->object;
	w->step->method = row->method;
	w->step->write_cmd = row->write_cmd;
	w->step->class_ = row->class_;
	w->step->row = wv_abi_index(row);
	w->step->n_attrs = (uint8_t)n_attrs;
	w->step->new_handle = WV_NONE;
	w->step->new_fd = WV_NONE;
	w->step->new_number = WV_NONE;
	w->step->target = WV_NONE;
	return w->step;
}

uint32_t wv_cmdlog_payload(struct wv_cmdlog_writer *w, const void *data, size_t len)
{
	uint32_t offset = reserve(w, len > 8 ? len : 8);

	if (offset && data)
		memcpy(wv_step_at(w->step, offset), data, len);
	return offset;
}

void wv_cmdlog_commit(struct wv_cmdlog_writer *w)
{
	if (w->step && !w->full) {
		w->cmdlog->n_steps++;
		w->cmdlog->bytes += w->step->bytes;
	}
	w->step = NULL;
}

void wv_cmdlog_abandon(struct wv_cmdlog_writer *w)
{
	w->step = NULL;
}

void wv_cmdlog_copy(struct wv_cmdlog_writer *w, const struct wv_step *step)
{
	if (step->bytes > w->capacity - w->cmdlog->bytes ||
	    w->cmdlog->n_steps == WV_CMDLOG_MAX_STEPS)
		return;
	memcpy((uint8_t *)w->cmdlog + w->cmdlog->bytes, step, step->bytes);
	w->cmdlog->bytes += step->bytes;
	w->cmdlog->n_steps++;
}
