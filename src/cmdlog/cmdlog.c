/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/cmdlog.h"

#include "base/base.h"

#include <errno.h>
#include <string.h>

#define MAX_ERRNO 4095 /* the largest that a kernel answers (include/linux/err.h) */

static int payload_in_bounds(const struct wv_step *step, uint32_t offset, size_t len)
{
	size_t start = sizeof(*step) + step->n_attrs * sizeof(struct wv_attr);

	return offset == 0 || (offset % 8 == 0 && offset >= start && offset <= step->bytes &&
			       len <= step->bytes - offset);
}

/* Adoption copies each answer and looks up each slot, so both must exist. */
static int lease_attr_check(const struct wv_step *step, const struct wv_attr *attr,
			    const struct wv_cmdlog *cmdlog)
{
	switch (attr->kind) {
	case WV_OUT:
		return attr->payload ? 0 : -EPROTO;
	case WV_FD:
		return attr->data < cmdlog->n_fds ? 0 : -EPROTO;
	case WV_NEW_FD:
		return step->new_fd < cmdlog->n_fds ? 0 : -EPROTO;
	default:
		return 0;
	}
}

static int attr_check(const struct wv_step *step, const struct wv_command_row *row,
		      const struct wv_attr *attr, const struct wv_cmdlog *cmdlog)
{
	const struct wv_attr_row *known = wv_abi_attr(row, attr->id);
	size_t len = attr->len > 8 ? attr->len : 8;

	if (!known || attr->kind != known->kind)
		return -EPROTO;
	if (!payload_in_bounds(step, attr->payload, len))
		return -EPROTO;
	if (attr->kind == WV_EQUAL && !attr->payload)
		return -EPROTO;
	return cmdlog->form == WV_LEASE ? lease_attr_check(step, attr, cmdlog) : 0;
}

/* A writer of this build has stored the right row already. */
static const struct wv_command_row *find_row(const struct wv_step *step, uint32_t driver_id)
{
	const struct wv_command_row *row = wv_abi_at(step->row);

	if (row && wv_abi_describes(row, driver_id, step->object, step->method, step->write_cmd))
		return row;
	return wv_abi_find(driver_id, step->object, step->method, step->write_cmd);
}

/* A WV_MEMORY step has a size; in a lease it is within the lease's memory. */
static int memory_check(struct wv_step *step, const struct wv_cmdlog *cmdlog)
{
	struct wv_attr *size = wv_step_attr(step, WV_ATTR_MEMORY_SIZE);

	if (!size || size->len != sizeof(uint64_t) ||
	    !payload_in_bounds(step, size->payload, size->len) || !size->payload)
		return -EPROTO;
	if (cmdlog->form != WV_LEASE)
		return 0;
	return step->new_number <= cmdlog->memory &&
		       wv_step_memory_size(step) <= cmdlog->memory - step->new_number
		   ? 0
		   : -EPROTO;
}

static int step_check(struct wv_step *step, const struct wv_cmdlog *cmdlog)
{
	const struct wv_command_row *row = find_row(step, cmdlog->driver_id);

	if (!row || row->class_ != step->class_ || step->state != WV_FREE ||
	    step->n_attrs > WV_CMDLOG_MAX_ATTRS || step->error < 0 || step->error > MAX_ERRNO)
		return -EPROTO;
	if (sizeof(*step) + step->n_attrs * sizeof(struct wv_attr) > step->bytes)
		return -EPROTO;
	if (cmdlog->form == WV_LEASE && step->new_fd != WV_NONE && step->new_fd >= cmdlog->n_fds)
		return -EPROTO;
	if (step->class_ == WV_MEMORY && memory_check(step, cmdlog))
		return -EPROTO;
	wv_each_attr (step, attr)
		if (attr_check(step, row, attr, cmdlog))
			return -EPROTO;
	step->row = wv_abi_index(row);
	return 0;
}

int wv_cmdlog_check(void *data, size_t bytes, enum wv_form form)
{
	const struct wv_cmdlog *cmdlog = data;
	size_t at = sizeof(*cmdlog);

	if (bytes < sizeof(*cmdlog) || bytes > WV_CMDLOG_MAX_BYTES || (uintptr_t)data % 8)
		return -EPROTO;
	if (cmdlog->magic != WV_CMDLOG_MAGIC || cmdlog->format != WV_CMDLOG_FORMAT ||
	    cmdlog->form != form || cmdlog->bytes != bytes ||
	    cmdlog->n_steps > WV_CMDLOG_MAX_STEPS || cmdlog->n_fds > WV_CMDLOG_MAX_FDS ||
	    cmdlog->memory > WV_CMDLOG_MAX_MEMORY)
		return -EPROTO;
	for (unsigned int i = 0; i < cmdlog->n_steps; i++) {
		struct wv_step *step = (struct wv_step *)((uint8_t *)data + at);

		if (bytes - at < sizeof(*step) || step->bytes % 8 || step->bytes > bytes - at ||
		    step->bytes < sizeof(*step) || step_check(step, cmdlog))
			return -EPROTO;
		at += step->bytes;
	}
	return at == bytes ? 0 : -EPROTO;
}

const struct wv_command_row *wv_step_row(const struct wv_step *step)
{
	return wv_abi_at(step->row);
}

struct wv_step *wv_cmdlog_nth(struct wv_cmdlog *cmdlog, uint32_t index)
{
	wv_each_step (cmdlog, step)
		if (!index--)
			return step;
	return NULL;
}

struct wv_attr *wv_step_attr(struct wv_step *step, uint16_t id)
{
	wv_each_attr (step, attr)
		if (attr->id == id)
			return attr;
	return NULL;
}

const uint8_t *wv_attr_bytes(struct wv_step *step, const struct wv_attr *attr)
{
	return attr->payload ? wv_step_at(step, attr->payload) : NULL;
}

int wv_step_fields(struct wv_step *step, wv_visit_field visit, void *data)
{
	int stop = 0;

	wv_each_attr (step, attr)
		if (attr->kind == WV_EQUAL && !stop)
			stop =
			    wv_attr_fields(wv_abi_attr(wv_step_row(step), attr->id),
					   wv_step_at(step, attr->payload), attr->len, visit, data);
	return stop;
}

uint64_t wv_step_memory_size(struct wv_step *step)
{
	struct wv_attr *attr = wv_step_attr(step, WV_ATTR_MEMORY_SIZE);
	uint64_t size;

	memcpy(&size, wv_attr_bytes(step, attr), sizeof(size));
	return size;
}

static int place_field(void *data, const struct wv_field *field, uint8_t *payload)
{
	uint64_t value = wv_field_get(field, payload);

	if (wv_is_memory(field) && value)
		wv_field_set(field, payload, value + *(uint64_t *)data);
	return 0;
}

void wv_step_place(struct wv_step *step, uint64_t by)
{
	wv_step_fields(step, place_field, &by);
}
