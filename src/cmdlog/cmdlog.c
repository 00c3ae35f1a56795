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

/* Adoption copies every answer and looks up every slot. */
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

/* A writer that was built from the same table has noted the right row already. */
static const struct wv_command_row *find_row(const struct wv_step *step, uint32_t driver_id)
{
	const struct wv_command_row *row = wv_abi_at(step->row);

	if (row && wv_abi_describes(row, driver_id, step->object, step->method, step->write_cmd))
		return row;
	return wv_abi_find(driver_id, step->object, step->method, step->write_cmd);
}

/* A WV_MEMORY step has its size; in a lease it lies within the lease's memory. */
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

/* The fields of one input attribute. */
static int visit_fields(const struct wv_attr_row *known, const void *payload, size_t len,
			wv_visit_field visit, void *data)
{
	int stop = 0;

	for (unsigned int i = 0; i < known->n_fields && !stop; i++)
		if (wv_field_fits(&known->fields[i], len))
			stop = visit(data, &known->fields[i], (uint8_t *)(uintptr_t)payload);
	return stop;
}

int wv_step_fields(struct wv_step *step, wv_visit_field visit, void *data)
{
	int stop = 0;

	wv_each_attr (step, attr)
		if (attr->kind == WV_EQUAL && !stop)
			stop =
			    visit_fields(wv_abi_attr(wv_step_row(step), attr->id),
					 wv_step_at(step, attr->payload), attr->len, visit, data);
	return stop;
}

int wv_command_fields(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row,
		      wv_visit_field visit, void *data)
{
	int stop = 0;

	for (unsigned int i = 0; i < cmd->num_attrs && !stop; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(row, attr->attr_id);

		if (known && known->kind == WV_EQUAL)
			stop = visit_fields(known, wv_attr_input(attr), attr->len, visit, data);
	}
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

const struct wv_ahead_row *wv_step_ahead(const struct wv_cmdlog *cmdlog, struct wv_step *create)
{
	struct wv_attr *type = wv_step_attr(create, UVERBS_ATTR_CREATE_QP_TYPE);
	struct wv_attr *uhw = wv_step_attr(create, UVERBS_ATTR_UHW_IN);
	uint64_t number = 0;

	if (create->object != UVERBS_OBJECT_QP || create->method != UVERBS_METHOD_QP_CREATE ||
	    !type || type->len > sizeof(number))
		return NULL;
	memcpy(&number, wv_attr_bytes(create, type), type->len);
	return wv_abi_ahead(cmdlog->driver_id, (uint32_t)number,
			    uhw ? wv_attr_bytes(create, uhw) : NULL, uhw ? uhw->len : 0);
}

/* Numbers are used again as soon as they are free: the newest is the one. */
const struct wv_ahead_row *wv_cmdlog_ahead(struct wv_cmdlog *cmdlog, uint32_t handle)
{
	const struct wv_ahead_row *ahead = NULL;

	wv_each_step (cmdlog, step)
		if (step->new_handle == handle && step->class_ == WV_CREATE)
			ahead = wv_step_ahead(cmdlog, step);
	return ahead;
}

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
	*w = (struct wv_cmdlog_writer){
	    .cmdlog = cmdlog,
	    .capacity = capacity < WV_CMDLOG_MAX_BYTES ? capacity : WV_CMDLOG_MAX_BYTES,
	};
}

/* Room for @bytes more in the open step, zeroed; its offset from the step. */
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
