/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/command.h"

#include <string.h>

static void fill_attr(struct ib_uverbs_attr *to, struct wv_step *step, const struct wv_attr *attr,
		      const int *fds, uint64_t token)
{
	*to = (struct ib_uverbs_attr){
	    .attr_id = attr->id,
	    .len = attr->len,
	    .flags = attr->flags & UVERBS_ATTR_F_MANDATORY,
	};
	switch (attr->kind) {
	case WV_EQUAL:
		if (attr->len <= sizeof(to->data))
			memcpy(&to->data, wv_step_at(step, attr->payload), sizeof(to->data));
		else
			to->data = (uintptr_t)wv_step_at(step, attr->payload);
		break;
	case WV_OUT:
		to->data = (uintptr_t)wv_step_at(step, attr->payload);
		break;
	case WV_HANDLE:
		to->data = attr->data;
		break;
	case WV_FD:
		to->data_s64 = fds[attr->data];
		break;
	case WV_TOKEN:
		to->data = token;
		break;
	default: /* WV_NEW_HANDLE, WV_NEW_FD: the kernel's to fill */
		break;
	}
}

void wv_command_fill(struct wv_command *cmd, struct wv_step *step, uint32_t driver_id,
		     const int *fds, uint64_t token)
{
	cmd->hdr = (struct ib_uverbs_ioctl_hdr){
	    .length = (uint16_t)(sizeof(cmd->hdr) + step->n_attrs * sizeof(cmd->attrs[0])),
	    .object_id = step->object,
	    .method_id = step->method,
	    .num_attrs = step->n_attrs,
	    .driver_id = driver_id,
	};
	for (unsigned int i = 0; i < step->n_attrs; i++)
		fill_attr(&cmd->attrs[i], step, &wv_step_attrs(step)[i], fds, token);
}

bool wv_command_copy(struct wv_command *copy, const struct ib_uverbs_ioctl_hdr *cmd)
{
	if (cmd->num_attrs > WV_CMDLOG_MAX_ATTRS)
		return false;
	memcpy(copy, cmd, sizeof(*cmd) + cmd->num_attrs * sizeof(cmd->attrs[0]));
	return true;
}

struct ib_uverbs_attr *wv_command_attr(const struct ib_uverbs_ioctl_hdr *cmd, uint16_t id)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++)
		if (cmd->attrs[i].attr_id == id)
			return (struct ib_uverbs_attr *)&cmd->attrs[i];
	return NULL;
}

int wv_command_fields(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row,
		      wv_visit_field visit, void *data)
{
	int stop = 0;

	for (unsigned int i = 0; i < cmd->num_attrs && !stop; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(row, attr->attr_id);

		if (known && known->kind == WV_EQUAL)
			stop = wv_attr_fields(known, wv_attr_input(attr), attr->len, visit, data);
	}
	return stop;
}

uint32_t wv_field_of(const struct wv_attr_row *known, const uint8_t *bytes, size_t len,
		     enum wv_kind kind)
{
	uint32_t value;

	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];

		if (f->kind != kind || f->offset + sizeof(value) > len)
			continue;
		memcpy(&value, bytes + f->offset, sizeof(value));
		return value;
	}
	return WV_NONE;
}

uint32_t wv_command_target(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(row, attr->attr_id);
		uint32_t handle = WV_NONE;

		if (known && known->kind == WV_HANDLE)
			handle = (uint32_t)attr->data;
		else if (known && known->kind == WV_EQUAL && known->n_fields)
			handle = wv_field_of(known, wv_attr_input(attr), attr->len, WV_HANDLE);
		if (handle != WV_NONE)
			return handle;
	}
	return WV_NONE;
}

uint32_t wv_command_made(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row,
			 enum wv_kind kind)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(row, attr->attr_id);
		uint32_t made = WV_NONE;

		if (known && known->kind == kind)
			made = (uint32_t)attr->data;
		else if (known && known->kind == WV_OUT && known->n_fields)
			made = wv_field_of(known, (const uint8_t *)(uintptr_t)attr->data, attr->len,
					   kind);
		if (made != WV_NONE)
			return made;
	}
	return WV_NONE;
}
