/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/adopt.h"

#include "cmdlog/qp_steps.h"

#include <string.h>

void wv_lease_init(struct wv_lease *lease, struct wv_cmdlog *cmdlog)
{
	lease->cmdlog = cmdlog;
	lease->first = wv_cmdlog_first(cmdlog);
	lease->n_recipe = cmdlog->n_steps;
	lease->given = 0;
	lease->opening = lease->any_vector = false;
	lease->memory = NULL;
	for (unsigned int i = 0; i < WV_CMDLOG_MAX_FDS; i++)
		lease->fds[i] = -1;
}

void wv_lease_move(struct wv_lease *lease, struct wv_cmdlog *cmdlog)
{
	size_t first = (size_t)((uint8_t *)lease->first - (uint8_t *)lease->cmdlog);

	lease->first = (struct wv_step *)((uint8_t *)cmdlog + first);
	lease->cmdlog = cmdlog;
}

void wv_lease_place(struct wv_lease *lease, uint8_t *memory)
{
	lease->memory = memory;
	wv_each_step (lease->cmdlog, step)
		wv_step_place(step, (uintptr_t)memory);
}

static int same_command(const struct wv_step *step, const struct ib_uverbs_ioctl_hdr *cmd,
			uint32_t write_cmd)
{
	return step->object == cmd->object_id && step->method == cmd->method_id &&
	       step->write_cmd == write_cmd;
}

/* Offset of the first byte from @from to @to that differs, or @to. */
static uint32_t first_difference(const uint8_t *a, const uint8_t *b, uint32_t from, uint32_t to)
{
	if (from >= to || !memcmp(a + from, b + from, to - from))
		return to;
	while (a[from] == b[from])
		from++;
	return from;
}

/* The completion vectors of the lease's device, as the kernel has counted them for its context. */
static uint32_t count_vectors(const struct wv_lease *lease)
{
	uint32_t n = 0;

	wv_each_step (lease->cmdlog, step) {
		struct wv_attr *attr = wv_step_attr(step, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS);

		if (!wv_abi_creates(wv_step_row(step), UVERBS_OBJECT_DEVICE))
			continue;
		if (attr && attr->payload && attr->len == sizeof(n))
			memcpy(&n, wv_step_at(step, attr->payload), sizeof(n));
		break; /* there is only one context, near the beginning */
	}
	return n;
}

/*
 * Whether the CQ of @step does for a program that asks for @vector. The vector says which processor
 * is interrupted, and without a completion channel there are no interrupts.
 */
static bool may_have_another_vector(const struct wv_lease *lease, struct wv_step *step,
				    uint64_t vector)
{
	return !step->error && vector < count_vectors(lease) &&
	       (lease->any_vector || !wv_step_attr(step, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL));
}

/* Whether the field, of the command @asked, may differ between two equal commands. */
static bool is_free(const struct wv_lease *lease, struct wv_step *step, const struct wv_field *f,
		    const uint8_t *asked)
{
	switch (f->kind) {
	case WV_POINTER:
	case WV_VOLATILE:
		return true;
	case WV_VECTOR:
		return may_have_another_vector(lease, step, wv_field_get(f, asked));
	default:
		return false;
	}
}

/*
 * Offset of the first difference between the command @asked and @step outside the free fields (the
 * table lists fields by offset), or the length of the attribute.
 */
static uint32_t compare_payload(const struct wv_lease *lease, struct wv_step *step,
				const struct wv_attr *attr, const uint8_t *asked)
{
	const struct wv_attr_row *known = wv_abi_attr(wv_step_row(step), attr->id);
	const uint8_t *have = wv_step_at(step, attr->payload);
	uint32_t at = 0, len = attr->len;

	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];
		uint32_t end = f->offset < len ? f->offset : len;
		uint32_t differs;

		if (!wv_field_fits(f, len) || !is_free(lease, step, f, asked))
			continue;
		differs = first_difference(asked, have, at, end);
		if (differs < end)
			return differs;
		at = end + f->size;
	}
	return at < len ? first_difference(asked, have, at, len) : len;
}

static int slot_is(const struct wv_lease *lease, uint64_t slot, int64_t fd)
{
	return lease->given & (1u << slot) && lease->fds[slot] == fd;
}

/* WV_WHY_NONE, or how the attribute differs from the step's. */
static enum wv_why compare_attr(const struct wv_lease *lease, struct wv_step *step,
				const struct wv_attr *attr, const struct ib_uverbs_attr *have,
				uint32_t *offset)
{
	if (attr->id != have->attr_id || attr->len != have->len || attr->flags != have->flags ||
	    have->attr_data.reserved)
		return WV_WHY_SHAPE;
	switch (attr->kind) {
	case WV_EQUAL:
		*offset = compare_payload(lease, step, attr, wv_attr_input(have));
		return *offset == attr->len ? WV_WHY_NONE : WV_WHY_VALUE;
	case WV_HANDLE:
		return have->data == attr->data ? WV_WHY_NONE : WV_WHY_VALUE;
	case WV_FD:
		return slot_is(lease, attr->data, have->data_s64) ? WV_WHY_NONE : WV_WHY_VALUE;
	default:
		return WV_WHY_NONE;
	}
}

static struct wv_difference compare(const struct wv_lease *lease, struct wv_step *step,
				    const struct ib_uverbs_ioctl_hdr *cmd)
{
	struct wv_difference d = {.why = WV_WHY_SHAPE};
	const struct wv_attr *attrs = wv_step_attrs(step);

	if (step->n_attrs != cmd->num_attrs || lease->cmdlog->driver_id != cmd->driver_id)
		return d;
	for (unsigned int i = 0; i < step->n_attrs; i++) {
		d.attr = attrs[i].id;
		d.why = compare_attr(lease, step, &attrs[i], &cmd->attrs[i], &d.offset);
		if (d.why != WV_WHY_NONE)
			return d;
	}
	return (struct wv_difference){.why = WV_WHY_NONE};
}

/* A descriptor inside an answer becomes this process's number of it. */
static void answer_fd_fields(struct wv_lease *lease, struct wv_step *step,
			     const struct wv_attr *attr, uint8_t *to)
{
	const struct wv_attr_row *known = wv_abi_attr(wv_step_row(step), attr->id);

	for (unsigned int i = 0; i < known->n_fields; i++)
		if (known->fields[i].kind == WV_NEW_FD &&
		    known->fields[i].offset + sizeof(int) <= attr->len)
			memcpy(to + known->fields[i].offset, &lease->fds[step->new_fd],
			       sizeof(int));
}

static void answer_attr(struct wv_lease *lease, struct wv_step *step, const struct wv_attr *attr,
			struct ib_uverbs_attr *to)
{
	uint8_t *buffer = (uint8_t *)(uintptr_t)to->data;

	switch (attr->kind) {
	case WV_OUT:
		memcpy(buffer, wv_step_at(step, attr->payload), attr->len);
		if (step->new_fd != WV_NONE)
			answer_fd_fields(lease, step, attr, buffer);
		break;
	case WV_NEW_HANDLE:
		to->data = step->new_handle;
		break;
	case WV_NEW_FD:
		to->data_s64 = lease->fds[step->new_fd];
		break;
	case WV_TOKEN:
		step->user_handle = to->data;
		break;
	default:
		break;
	}
}

/* A command that failed has no answer but its errno. */
static void answer(struct wv_lease *lease, struct wv_step *step, struct ib_uverbs_ioctl_hdr *cmd)
{
	const struct wv_attr *attrs = wv_step_attrs(step);

	for (unsigned int i = 0; i < step->n_attrs; i++) {
		if (!step->error)
			answer_attr(lease, step, &attrs[i], &cmd->attrs[i]);
		if (attrs[i].valid_output)
			cmd->attrs[i].flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	}
}

/* A program takes the steps about a QP in order: those that it skipped are void. */
static void void_earlier(struct wv_lease *lease, struct wv_step *taken)
{
	for (struct wv_step *step = lease->first; step < taken; step = wv_step_next(step))
		if (step->state == WV_FREE && step->target == taken->target)
			step->state = WV_DEAD;
}

void wv_lease_take(struct wv_lease *lease, struct wv_step *step)
{
	if (step->new_fd != WV_NONE)
		lease->given |= 1u << step->new_fd;
	if (step->target != WV_NONE)
		void_earlier(lease, step);
	step->state = WV_TAKEN;
	while (lease->first < wv_cmdlog_end(lease->cmdlog) && lease->first->state != WV_FREE)
		lease->first = wv_step_next(lease->first);
}

/* A QP goes through its states one by one, so a program that skips a move did not make it. */
static int skips_a_move(const struct wv_lease *lease, const struct wv_step *move)
{
	for (struct wv_step *step = lease->first; step < move; step = wv_step_next(step))
		if (step->state == WV_FREE && step->class_ == WV_MODIFY &&
		    step->target == move->target)
			return 1;
	return 0;
}

static int may_be_claimed(const struct wv_lease *lease, const struct wv_step *step)
{
	switch (step->class_) {
	case WV_MEMORY:
		return 0;
	case WV_OPENING:
		return lease->opening;
	case WV_REGISTER:
		return !step->error;
	case WV_MODIFY:
		return !skips_a_move(lease, step);
	default:
		return 1;
	}
}

struct wv_step *wv_lease_claim(struct wv_lease *lease, struct ib_uverbs_ioctl_hdr *cmd,
			       uint32_t write_cmd)
{
	struct wv_step *end = wv_cmdlog_end(lease->cmdlog);

	for (struct wv_step *step = lease->first; step < end; step = wv_step_next(step)) {
		if (step->state != WV_FREE || !same_command(step, cmd, write_cmd) ||
		    !may_be_claimed(lease, step) || compare(lease, step, cmd).why != WV_WHY_NONE)
			continue;
		answer(lease, step, cmd);
		wv_lease_take(lease, step);
		return step;
	}
	return NULL;
}

struct wv_step *wv_lease_creator(const struct wv_lease *lease, uint32_t handle)
{
	wv_each_step (lease->cmdlog, step)
		if (step->new_handle == handle && step->state == WV_TAKEN)
			return step;
	return NULL;
}

struct wv_step *wv_lease_move_to(struct wv_lease *lease, uint32_t handle, int state)
{
	for (struct wv_step *step = lease->first; step < wv_cmdlog_end(lease->cmdlog);
	     step = wv_step_next(step))
		if (step->state == WV_FREE && step->class_ == WV_MODIFY && step->target == handle &&
		    wv_step_qp_state(step) == state)
			return step;
	return NULL;
}

struct wv_difference wv_lease_explain(struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
				      uint32_t write_cmd)
{
	wv_each_step (lease->cmdlog, step)
		if (step->state == WV_FREE && same_command(step, cmd, write_cmd))
			return compare(lease, step, cmd);
	return (struct wv_difference){.why = WV_WHY_NO_STEP};
}

static int is_handle(void *data, const struct wv_field *f, uint8_t *payload)
{
	return f->kind == WV_HANDLE && wv_field_get(f, payload) == *(const uint32_t *)data;
}

static int names_handle(struct wv_step *step, uint32_t handle)
{
	if (step->target == handle)
		return 1;
	wv_each_attr (step, attr)
		if (attr->kind == WV_HANDLE && attr->data == handle)
			return 1;
	return wv_step_fields(step, is_handle, &handle);
}

static int names_slot(struct wv_step *step, unsigned int slot)
{
	if (step->new_fd == slot)
		return 1;
	wv_each_attr (step, attr)
		if (attr->kind == WV_FD && attr->data == slot)
			return 1;
	return 0;
}

void wv_lease_kill_handle(struct wv_lease *lease, uint32_t handle)
{
	wv_each_step (lease->cmdlog, step)
		if (step->state == WV_FREE && names_handle(step, handle))
			step->state = WV_DEAD;
}

void wv_lease_kill_slot(struct wv_lease *lease, unsigned int slot)
{
	lease->given &= ~(1u << slot);
	lease->fds[slot] = -1;
	wv_each_step (lease->cmdlog, step)
		if (step->state == WV_FREE && names_slot(step, slot))
			step->state = WV_DEAD;
}

int wv_lease_kill_moves(struct wv_lease *lease, uint32_t handle)
{
	int moved = 0;

	for (struct wv_step *step = lease->first; step < wv_cmdlog_end(lease->cmdlog);
	     step = wv_step_next(step)) {
		if (step->state != WV_FREE || step->target != handle)
			continue;
		moved |= step->class_ == WV_MODIFY;
		step->state = WV_DEAD;
	}
	return moved;
}

struct wv_step *wv_lease_user(struct wv_lease *lease, uint32_t handle)
{
	struct wv_step *last = NULL;

	wv_each_step (lease->cmdlog, step)
		if ((step->state == WV_FREE || step->state == WV_DEAD) &&
		    step->new_handle != WV_NONE && names_handle(step, handle))
			last = step;
	return last;
}

int wv_lease_translate(struct wv_lease *lease, uint64_t *value)
{
	uint64_t index = 0;

	if (!WV_IS_TOKEN(*value))
		return 1;
	wv_each_step (lease->cmdlog, step) {
		if (WV_TOKEN(index++) != *value)
			continue;
		if (step->state != WV_TAKEN)
			return 0;
		/* Also when it was destroyed since: an event read late still has to be acked. */
		*value = step->user_handle;
		return 1;
	}
	return 0;
}
