#include "tape/record.h"

#include "base/base.h"

#include <infiniband/verbs.h>
#include <string.h>

static int worth_recording(const struct wv_command_row *row)
{
	return row->class_ != WV_PASS && row->class_ != WV_DATA;
}

static int is_about_an_object(const struct wv_command_row *row)
{
	return row->class_ == WV_MODIFY || row->class_ == WV_QUERY || row->class_ == WV_DESTROY;
}

/* Attributes in forms that no row describes: arrays of handles, enum selectors. */
static int is_odd(const struct ib_uverbs_attr *attr, const struct wv_attr_row *known)
{
	int is_object = known->kind == WV_HANDLE || known->kind == WV_NEW_HANDLE ||
			known->kind == WV_FD || known->kind == WV_NEW_FD;

	return attr->attr_data.reserved || attr->flags > UINT8_MAX || (is_object && attr->len);
}

/* Zeroes the bytes that are private to the process, so that equal commands have equal payloads. */
static void take_out_private(uint8_t *bytes, size_t len, const struct wv_attr_row *known)
{
	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];

		if (f->kind == WV_POINTER && f->offset + f->size <= len)
			memset(bytes + f->offset, 0, f->size);
	}
}

static int record_attr(struct wv_tape_writer *w, struct wv_attr *to,
		       const struct ib_uverbs_attr *from, const struct wv_attr_row *known)
{
	*to = (struct wv_attr){
	    .id = from->attr_id,
	    .len = from->len,
	    .flags = (uint8_t)from->flags,
	    .kind = known->kind,
	};
	if (known->kind == WV_HANDLE || known->kind == WV_FD)
		to->data = (uint32_t)from->data;
	if (known->kind != WV_EQUAL)
		return 0;
	to->payload = wv_tape_payload(w, wv_attr_input(from), from->len);
	if (to->payload)
		take_out_private(wv_step_at(w->step, to->payload), from->len, known);
	return 0;
}

int wv_record_command(struct wv_tape_writer *w, const struct ib_uverbs_ioctl_hdr *cmd,
		      const struct wv_command_row *row)
{
	struct wv_step *step;

	wv_tape_abandon(w);
	if (!row)
		return WV_UNKNOWN;
	if (!worth_recording(row))
		return 0;
	step = wv_tape_step(w, row, cmd->num_attrs);
	if (!step)
		return 0;
	for (unsigned int i = 0; i < cmd->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(row, attr->attr_id);

		if (!known || is_odd(attr, known)) {
			wv_tape_abandon(w);
			return WV_UNKNOWN;
		}
		record_attr(w, &wv_step_attrs(step)[i], attr, known);
	}
	if (is_about_an_object(row))
		step->target = wv_command_target(cmd, row);
	return 0;
}

void wv_record_answer(struct wv_tape_writer *w, const struct ib_uverbs_ioctl_hdr *cmd,
		      const struct wv_command_row *row, int error)
{
	if (!w->step)
		return;
	w->step->error = error;
	if (!error) {
		w->step->new_handle = wv_command_made(cmd, row, WV_NEW_HANDLE);
		w->step->new_fd = wv_command_made(cmd, row, WV_NEW_FD);
	}
	wv_tape_commit(w);
}

/* The first field of @kind inside the struct at @bytes. */
static uint32_t field_value(const struct wv_attr_row *known, const uint8_t *bytes, size_t len,
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
			handle = field_value(known, wv_attr_input(attr), attr->len, WV_HANDLE);
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
			made = field_value(known, (const uint8_t *)(uintptr_t)attr->data, attr->len,
					   kind);
		if (made != WV_NONE)
			return made;
	}
	return WV_NONE;
}

static int qp_state_in(const void *core_in, size_t len)
{
	const struct ib_uverbs_modify_qp *modify = core_in;

	if (len < sizeof(*modify) || !(modify->attr_mask & IBV_QP_STATE))
		return -1;
	return modify->qp_state;
}

int wv_step_qp_state(struct wv_step *step)
{
	struct wv_attr *in = wv_step_attr(step, UVERBS_ATTR_CORE_IN);

	return in ? qp_state_in(wv_attr_bytes(step, in), in->len) : -1;
}

int wv_command_qp_state(const struct ib_uverbs_ioctl_hdr *cmd)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++)
		if (cmd->attrs[i].attr_id == UVERBS_ATTR_CORE_IN)
			return qp_state_in(wv_attr_input(&cmd->attrs[i]), cmd->attrs[i].len);
	return -1;
}
