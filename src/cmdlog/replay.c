/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/replay.h"

#include "base/base.h"
#include "cmdlog/arena.h"
#include "cmdlog/command.h"
#include "cmdlog/pattern.h"
#include "cmdlog/qp_steps.h"
#include "cmdlog/validate.h"
#include "cmdlog/writer.h"

#include <errno.h>
#include <string.h>

struct player {
	struct wv_cmdlog_writer out;
	struct wv_replay *result;
	struct wv_step *made[WV_CMDLOG_MAX_STEPS]; /* the lease's step for each of the recipe's */
	struct wv_arena arena;
};

static int patch_handle(struct player *p, uint32_t *ref)
{
	uint32_t handle = p->made[*ref]->new_handle;

	if (handle == WV_NONE)
		return -EPROTO;
	*ref = handle;
	return 0;
}

/* Writes the new number of step @index, plus @plus, into field @f. */
static int patch_number(struct player *p, const struct wv_field *f, uint8_t *payload,
			uint64_t index, uint64_t plus)
{
	uint64_t most = f->size == sizeof(most) ? UINT64_MAX : (1ull << 8 * f->size) - 1;
	uint32_t number;

	if (index >= p->out.cmdlog->n_steps)
		return -EPROTO;
	number = p->made[index]->new_number;
	if (number == WV_NONE || number + plus > most)
		return -EPROTO;
	wv_field_set(f, payload, number + plus);
	return 0;
}

/* Replaces references inside a struct by the lease's handles, numbers and offsets. */
static int patch_field(void *data, const struct wv_field *f, uint8_t *payload)
{
	struct player *p = data;
	uint64_t value = wv_field_get(f, payload);
	uint32_t ref = (uint32_t)value;

	switch (f->kind) {
	case WV_HANDLE:
		if (ref >= p->out.cmdlog->n_steps || patch_handle(p, &ref))
			return -EPROTO;
		wv_field_set(f, payload, ref);
		return 0;
	case WV_NUMBER:
		return value & wv_number_is_step(f)
			   ? patch_number(p, f, payload, value & ~wv_number_is_step(f), 0)
			   : 0;
	case WV_BUFFER:
	case WV_DOORBELL:
		return value ? patch_number(p, f, payload, (value >> 32) - 1, ref) : 0;
	case WV_IOVA:
		return patch_number(p, f, payload, (value >> 32) - 1, ref + p->arena.place);
	default:
		return 0;
	}
}

static int prepare_attr(struct player *p, struct wv_step *from, const struct wv_attr *source,
			struct wv_attr *attr)
{
	*attr = *source;
	attr->payload = 0;
	switch (attr->kind) {
	case WV_EQUAL:
		attr->payload = wv_cmdlog_payload(&p->out, wv_attr_bytes(from, source), attr->len);
		return attr->payload ? 0 : -ENOSPC;
	case WV_OUT:
		attr->payload = wv_cmdlog_payload(&p->out, NULL, attr->len);
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

static int keep_fd(struct player *p, struct wv_step *step, uint32_t fd)
{
	if (fd == WV_NONE)
		return 0;
	if (p->result->n_fds == WV_CMDLOG_MAX_FDS) {
		close((int)fd);
		return -ENOSPC;
	}
	step->new_fd = p->result->n_fds;
	p->result->fds[p->result->n_fds++] = (int)fd;
	p->out.cmdlog->n_fds = (uint16_t)p->result->n_fds;
	return 0;
}

static int take_answer(struct player *p, struct wv_step *step, const struct wv_command *cmd,
		       const struct wv_command_row *row)
{
	struct wv_attr *attrs = wv_step_attrs(step);

	for (unsigned int i = 0; i < step->n_attrs; i++)
		attrs[i].valid_output = cmd->attrs[i].flags & UVERBS_ATTR_F_VALID_OUTPUT ? 1 : 0;
	if (step->error)
		return 0;
	step->new_handle = wv_command_made(&cmd->hdr, row, WV_NEW_HANDLE);
	step->new_number = wv_command_made(&cmd->hdr, row, WV_NEW_NUMBER);
	return keep_fd(p, step, wv_command_made(&cmd->hdr, row, WV_NEW_FD));
}

static int prepare_attrs(struct player *p, struct wv_step *from, struct wv_step *step)
{
	for (unsigned int i = 0; i < from->n_attrs; i++) {
		int err = prepare_attr(p, from, &wv_step_attrs(from)[i], &wv_step_attrs(step)[i]);

		if (err)
			return err;
	}
	return wv_step_fields(step, patch_field, p);
}

static int prepare(struct player *p, struct wv_step *from, struct wv_step *step)
{
	step->target = from->target;
	if (step->target != WV_NONE && patch_handle(p, &step->target))
		return -EPROTO;
	return prepare_attrs(p, from, step);
}

static int command(struct player *p, struct wv_step *from, struct wv_step *step, wv_issue_fn issue,
		   void *kernel)
{
	struct wv_command cmd;
	int err = prepare(p, from, step);

	if (err)
		return err;
	wv_step_place(step, (uintptr_t)p->arena.base);
	wv_command_fill(&cmd, step, p->out.cmdlog->driver_id, p->result->fds,
			WV_TOKEN(p->out.cmdlog->n_steps));
	step->error = issue(kernel, &cmd.hdr);
	wv_step_place(step, -(uint64_t)(uintptr_t)p->arena.base);
	err = take_answer(p, step, &cmd, wv_step_row(step));
	/* Without it, the program registers the memory itself. */
	if (step->error == from->error || step->class_ == WV_REGISTER)
		return err;
	p->result->failed_step = p->out.cmdlog->n_steps;
	p->result->failed_errno = step->error;
	return -EPROTO;
}

/* Memory for queues, with the initial pattern that the program's provider wrote. */
static int memory(struct player *p, struct wv_step *from, struct wv_step *step)
{
	struct wv_attr *contents;
	int err = prepare_attrs(p, from, step);

	if (err)
		return err;
	err = wv_arena_take(&p->arena, wv_step_memory_size(step), &step->new_number);
	contents = wv_step_attr(step, WV_ATTR_MEMORY_PATTERN);
	if (!err && contents)
		wv_pattern_write(p->arena.base + step->new_number,
				 (const void *)wv_attr_bytes(step, contents),
				 contents->len / sizeof(struct wv_series));
	return err;
}

static int play(struct player *p, struct wv_step *from, wv_issue_fn issue, void *kernel)
{
	unsigned int index = p->out.cmdlog->n_steps;
	struct wv_step *step = wv_cmdlog_step(&p->out, wv_step_row(from), from->n_attrs);
	int err;

	if (!step)
		return -ENOSPC;
	err = step->class_ == WV_MEMORY ? memory(p, from, step)
					: command(p, from, step, issue, kernel);
	if (err)
		return err;
	p->made[index] = step;
	wv_cmdlog_commit(&p->out);
	return p->out.full ? -ENOSPC : 0;
}

static int play_all(struct player *p, struct wv_cmdlog *recipe, wv_issue_fn issue, void *kernel)
{
	wv_each_step (recipe, step) {
		int err = play(p, step, issue, kernel);

		if (err)
			return err;
	}
	return 0;
}

int wv_replay(struct wv_cmdlog *recipe, wv_issue_fn issue, void *kernel, void *memory,
	      size_t capacity, struct wv_replay *out)
{
	struct player p = {.result = out};
	int err = wv_arena_make(&p.arena, wv_recipe_memory(recipe));

	*out = (struct wv_replay){.memory = -1};
	if (err)
		return err;
	wv_cmdlog_begin(&p.out, memory, capacity, WV_LEASE, recipe->driver_id);
	p.out.cmdlog->memory = (uint32_t)p.arena.bytes;
	out->lease = p.out.cmdlog;
	err = play_all(&p, recipe, issue, kernel);
	out->memory = wv_arena_finish(&p.arena);
	return err;
}

/* The step of @lease that creates an RC queue pair, by its number; NULL: it does not. */
static struct wv_step *creates_rc(struct player *p, uint32_t create)
{
	struct wv_step *step = create < p->out.cmdlog->n_steps ? p->made[create] : NULL;
	const struct wv_ahead_row *ahead = step ? wv_step_ahead(p->out.cmdlog, step) : NULL;

	return ahead && ahead->qp_type == IB_UVERBS_QPT_RC && !step->error ? step : NULL;
}

static void go_on_with(struct player *p, struct wv_cmdlog *lease, size_t capacity)
{
	unsigned int i = 0;

	wv_cmdlog_resume(&p->out, lease, capacity);
	wv_each_step (lease, step)
		p->made[i++] = step;
}

/* Makes of a recorded move a step of a recipe. */
static void make_move(struct wv_step *move, uint32_t create, const struct wv_qp_peer *peer)
{
	struct wv_attr *in = wv_step_attr(move, UVERBS_ATTR_CORE_IN);
	struct ib_uverbs_modify_qp *modify = (void *)wv_step_at(move, in->payload);

	move->target = modify->qp_handle = create;
	wv_qp_set_peer(modify, peer);
	wv_qp_set_psns(modify, peer);
}

static int play_moves(struct player *p, uint32_t create, struct wv_cmdlog *moves,
		      const struct wv_qp_peer *peer, wv_issue_fn issue, void *kernel)
{
	if (!creates_rc(p, create) || moves->bytes > WV_MOVES_MAX_BYTES ||
	    moves->driver_id != p->out.cmdlog->driver_id)
		return -EINVAL;
	wv_each_step (moves, move)
		make_move(move, create, peer);
	return play_all(p, moves, issue, kernel);
}

int wv_replay_moves(struct wv_cmdlog *lease, size_t capacity, uint32_t create,
		    struct wv_cmdlog *moves, const struct wv_qp_peer *peer, wv_issue_fn issue,
		    void *kernel)
{
	struct wv_replay out = {.memory = -1};
	struct player p = {.result = &out, .arena = {.fd = -1}};
	_Alignas(8) uint8_t copy[WV_MOVES_MAX_BYTES];
	struct wv_cmdlog before = *lease;
	int err;

	memcpy(copy, moves, moves->bytes < sizeof(copy) ? moves->bytes : sizeof(copy));
	go_on_with(&p, lease, capacity);
	err = play_moves(&p, create, (struct wv_cmdlog *)copy, peer, issue, kernel);
	if (err)
		*lease = before;
	return out.failed_errno ? -out.failed_errno : err;
}
