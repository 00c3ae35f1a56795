#include "tape/replay.h"

#include "base/base.h"
#include "tape/record.h"

#include <errno.h>
#include <string.h>

struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[WV_TAPE_MAX_ATTRS];
};

struct player {
	struct wv_tape_writer out;
	struct wv_replay *result;
	struct wv_step *made[WV_TAPE_MAX_STEPS]; /* the lease's step for each of the recipe's */
};

static int patch_handle(struct player *p, uint32_t *ref)
{
	uint32_t handle = p->made[*ref]->new_handle;

	if (handle == WV_NONE)
		return -EPROTO;
	*ref = handle;
	return 0;
}

/* Handles inside a struct become the lease's. */
static int patch_fields(struct player *p, struct wv_step *step, struct wv_attr *attr,
			const struct wv_attr_row *known)
{
	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];
		uint8_t *at = wv_step_at(step, attr->payload) + f->offset;
		uint32_t ref;

		if (f->kind != WV_HANDLE || f->offset + f->size > attr->len)
			continue;
		memcpy(&ref, at, sizeof(ref));
		if (ref >= p->out.tape->n_steps || patch_handle(p, &ref))
			return -EPROTO;
		memcpy(at, &ref, sizeof(ref));
	}
	return 0;
}

static int prepare_attr(struct player *p, struct wv_step *from, struct wv_step *step,
			const struct wv_attr *source, struct wv_attr *attr,
			const struct wv_attr_row *known)
{
	*attr = *source;
	attr->payload = 0;
	switch (attr->kind) {
	case WV_EQUAL:
		attr->payload = wv_tape_payload(&p->out, wv_attr_bytes(from, source), attr->len);
		return attr->payload ? patch_fields(p, step, attr, known) : -ENOSPC;
	case WV_OUT:
		attr->payload = wv_tape_payload(&p->out, NULL, attr->len);
		return attr->payload ? 0 : -ENOSPC;
	case WV_HANDLE:
		attr->data = p->made[source->data]->new_handle;
		return attr->data == WV_NONE ? -EPROTO : 0;
	case WV_FD: /* as a slot */
		attr->data = p->made[source->data]->new_fd;
		return attr->data == WV_NONE ? -EPROTO : 0;
	default:
		return 0;
	}
}

/* The attribute as the kernel is to see it. */
static void fill_attr(struct player *p, struct wv_step *step, const struct wv_attr *attr,
		      struct ib_uverbs_attr *to)
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
		to->data_s64 = p->result->fds[attr->data];
		break;
	case WV_TOKEN:
		to->data = WV_TOKEN(p->out.tape->n_steps);
		break;
	default: /* WV_NEW_HANDLE, WV_NEW_FD: the kernel's to fill */
		break;
	}
}

static int keep_fd(struct player *p, struct wv_step *step, uint32_t fd)
{
	if (fd == WV_NONE)
		return 0;
	if (p->result->n_fds == WV_TAPE_MAX_FDS) {
		close((int)fd);
		return -ENOSPC;
	}
	step->new_fd = p->result->n_fds;
	p->result->fds[p->result->n_fds++] = (int)fd;
	p->out.tape->n_fds = (uint16_t)p->result->n_fds;
	return 0;
}

static int take_answer(struct player *p, struct wv_step *step, const struct command *cmd,
		       const struct wv_command_row *row)
{
	struct wv_attr *attrs = wv_step_attrs(step);

	for (unsigned int i = 0; i < step->n_attrs; i++)
		attrs[i].valid_output = cmd->attrs[i].flags & UVERBS_ATTR_F_VALID_OUTPUT ? 1 : 0;
	if (step->error)
		return 0;
	step->new_handle = wv_command_made(&cmd->hdr, row, WV_NEW_HANDLE);
	return keep_fd(p, step, wv_command_made(&cmd->hdr, row, WV_NEW_FD));
}

static int prepare(struct player *p, struct wv_step *from, struct wv_step *step,
		   struct command *cmd, const struct wv_command_row *row)
{
	*cmd = (struct command){
	    .hdr = {
		.length = (uint16_t)(sizeof(cmd->hdr) + from->n_attrs * sizeof(cmd->attrs[0])),
		.object_id = from->object,
		.method_id = from->method,
		.num_attrs = from->n_attrs,
		.driver_id = p->out.tape->driver_id,
	    }};
	step->target = from->target;
	if (step->target != WV_NONE && patch_handle(p, &step->target))
		return -EPROTO;
	for (unsigned int i = 0; i < from->n_attrs; i++) {
		struct wv_attr *attr = &wv_step_attrs(step)[i];
		int err = prepare_attr(p, from, step, &wv_step_attrs(from)[i], attr,
				       wv_abi_attr(row, wv_step_attrs(from)[i].id));

		if (err)
			return err;
	}
	for (unsigned int i = 0; i < from->n_attrs; i++)
		fill_attr(p, step, &wv_step_attrs(step)[i], &cmd->attrs[i]);
	return 0;
}

static int play(struct player *p, struct wv_step *from, wv_issue_fn issue, void *kernel)
{
	const struct wv_command_row *row = wv_step_row(from);
	unsigned int index = p->out.tape->n_steps;
	struct wv_step *step = wv_tape_step(&p->out, row, from->n_attrs);
	struct command cmd;
	int err;

	if (!step)
		return -ENOSPC;
	err = prepare(p, from, step, &cmd, row);
	if (err)
		return err;
	step->error = issue(kernel, &cmd.hdr);
	err = take_answer(p, step, &cmd, row);
	if (step->error != from->error) {
		p->result->failed_step = index;
		p->result->failed_errno = step->error;
		return -EPROTO;
	}
	if (err)
		return err;
	p->made[index] = step;
	wv_tape_commit(&p->out);
	return p->out.full ? -ENOSPC : 0;
}

int wv_replay(struct wv_tape *recipe, wv_issue_fn issue, void *kernel, void *memory,
	      size_t capacity, struct wv_replay *out)
{
	struct player p = {.result = out};

	*out = (struct wv_replay){0};
	wv_tape_begin(&p.out, memory, capacity, WV_LEASE, recipe->driver_id);
	out->lease = p.out.tape;
	wv_each_step (recipe, step) {
		int err = play(&p, step, issue, kernel);

		if (err)
			return err;
	}
	return 0;
}
