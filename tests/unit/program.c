/* SPDX-License-Identifier: BSD-2-Clause */
#include "program.h"

#include "fixture.h"

void program_init(struct program *p, wv_issue_fn issue, void *kernel, uint64_t base)
{
	memset(p, 0, sizeof(*p));
	p->issue = issue;
	p->kernel = kernel;
	p->base = base;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(p->handles); i++) {
		p->handles[i] = WV_NONE;
		p->fds[i] = -1;
	}
}

uint64_t program_token(const struct program *p, unsigned int index)
{
	return p->base + 0x40 * index;
}

/* The inputs as the program has them in memory. */
static void personalise(struct program *p, uint8_t *bytes, size_t len,
			const struct wv_attr_row *known)
{
	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];
		uint64_t pointer = p->base + 0x9000;
		uint32_t handle;

		if (f->offset + f->size > len)
			continue;
		if (f->kind == WV_POINTER)
			memcpy(bytes + f->offset, &pointer, f->size);
		if (f->kind != WV_HANDLE)
			continue;
		memcpy(&handle, bytes + f->offset, sizeof(handle));
		memcpy(bytes + f->offset, &p->handles[handle], sizeof(handle));
	}
}

struct memory {
	uint8_t *blocks[WV_CMDLOG_MAX_ATTRS];
};

static void build(struct program *p, struct wv_step *step, struct command *cmd, struct memory *m)
{
	const struct wv_command_row *row =
	    wv_abi_find(WV_ANY_DRIVER, step->object, step->method, step->write_cmd);
	unsigned int i = 0;

	command_init(cmd, step->object, step->method);
	wv_each_attr (step, attr) {
		uint8_t *block = calloc(1, attr->len ? attr->len : 1);
		uint64_t token = program_token(p, p->n_steps);
		struct ib_uverbs_attr *made = NULL;

		m->blocks[i++] = block;
		switch (attr->kind) {
		case WV_EQUAL:
			memcpy(block, wv_attr_bytes(step, attr), attr->len);
			personalise(p, block, attr->len, wv_abi_attr(row, attr->id));
			made = command_in(cmd, attr->id, block, attr->len);
			break;
		case WV_TOKEN:
			made = command_in(cmd, attr->id, &token, sizeof(token));
			break;
		case WV_HANDLE:
			made = command_object(cmd, attr->id, p->handles[attr->data]);
			break;
		case WV_FD:
			made = command_object(cmd, attr->id, (uint64_t)p->fds[attr->data]);
			break;
		case WV_OUT:
			made = command_out(cmd, attr->id, block, attr->len);
			break;
		default:
			made = command_object(cmd, attr->id, 0);
			break;
		}
		made->flags = attr->flags;
	}
}

/* libibverbs asks for a QP's capacities in the memory that says which it wants. */
static void share_capacities(struct wv_step *step, struct command *cmd)
{
	if (step->object == UVERBS_OBJECT_QP && step->method == UVERBS_METHOD_QP_CREATE)
		command_attr(cmd, UVERBS_ATTR_CREATE_QP_RESP_CAP)->data =
		    command_attr(cmd, UVERBS_ATTR_CREATE_QP_CAP)->data;
}

/* Numbers that may differ between two runs that are the same. */
static void hide_numbers(uint8_t *bytes, size_t len, const struct wv_attr_row *known)
{
	for (unsigned int i = 0; i < known->n_fields; i++)
		if ((known->fields[i].kind == WV_NEW_HANDLE ||
		     known->fields[i].kind == WV_NEW_FD) &&
		    known->fields[i].offset + known->fields[i].size <= len)
			memset(bytes + known->fields[i].offset, 0, known->fields[i].size);
}

static uint64_t digest(struct command *cmd, const struct wv_command_row *row)
{
	uint64_t hash = WV_HASH_START;

	for (unsigned int i = 0; i < cmd->hdr.num_attrs; i++) {
		struct ib_uverbs_attr *attr = &cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(row, attr->attr_id);

		hash = wv_hash(hash, &attr->flags, sizeof(attr->flags));
		if (known->kind != WV_OUT)
			continue;
		hide_numbers((uint8_t *)(uintptr_t)attr->data, attr->len, known);
		hash = wv_hash(hash, (void *)(uintptr_t)attr->data, attr->len);
	}
	return hash;
}

static void remember(struct program *p, struct wv_step *step, struct command *cmd)
{
	const struct wv_command_row *row = command_row(cmd);
	uint32_t handle = wv_command_made(&cmd->hdr, row, WV_NEW_HANDLE);
	uint32_t fd = wv_command_made(&cmd->hdr, row, WV_NEW_FD);

	if (step->new_handle != WV_NONE)
		p->handles[step->new_handle] = handle;
	if (step->new_fd != WV_NONE)
		p->fds[step->new_fd] = (int)fd;
	if (step->class_ == WV_DESTROY)
		p->handles[step->target] = WV_NONE;
}

int program_step(struct program *p, struct wv_step *step)
{
	struct memory memory = {{NULL}};
	struct command cmd;
	int error;

	assert_true(p->n_steps < WV_CMDLOG_MAX_STEPS);
	if (step->class_ == WV_DESTROY && p->handles[step->target] == WV_NONE)
		return p->errors[p->n_steps++] = 0;
	build(p, step, &cmd, &memory);
	share_capacities(step, &cmd);
	error = p->issue(p->kernel, &cmd.hdr);
	if (!error)
		remember(p, step, &cmd);
	p->errors[p->n_steps] = error;
	p->answers[p->n_steps++] = digest(&cmd, command_row(&cmd));
	for (unsigned int i = 0; i < WV_CMDLOG_MAX_ATTRS; i++)
		free(memory.blocks[i]);
	if (!error && p->registers_mr && step->write_cmd == IB_USER_VERBS_CMD_ALLOC_PD)
		assert_int_equal(program_register_mr(p), 0);
	return error;
}

void program_run_part(struct program *p, struct wv_cmdlog *record, unsigned int first,
		      unsigned int end)
{
	unsigned int index = 0;

	wv_each_step (record, step) {
		if (index >= first && index < end)
			program_step(p, step);
		index++;
	}
}

void program_run(struct program *p, struct wv_cmdlog *record)
{
	program_run_part(p, record, 0, record->n_steps);
}

int program_register_mr(struct program *p)
{
	struct ib_uverbs_reg_mr in = {.response = p->base, .length = 4096};
	struct ib_uverbs_reg_mr_resp out;
	struct command cmd;

	command_legacy(&cmd, IB_USER_VERBS_CMD_REG_MR, &in, sizeof(in), &out, sizeof(out));
	return p->issue(p->kernel, &cmd.hdr);
}

static uint16_t destroy_method(uint16_t object)
{
	switch (object) {
	case UVERBS_OBJECT_PD:
		return UVERBS_METHOD_PD_DESTROY;
	case UVERBS_OBJECT_CQ:
		return UVERBS_METHOD_CQ_DESTROY;
	case UVERBS_OBJECT_SRQ:
		return UVERBS_METHOD_SRQ_DESTROY;
	default:
		return UVERBS_METHOD_QP_DESTROY;
	}
}

int program_destroy(struct program *p, uint16_t object, uint32_t handle)
{
	uint32_t reported[2];
	struct command cmd;

	/* The first attribute of each of these is the handle, the second the count of events. */
	command_init(&cmd, object, destroy_method(object));
	command_object(&cmd, UVERBS_ATTR_DESTROY_QP_HANDLE, handle);
	if (object != UVERBS_OBJECT_PD)
		command_out(&cmd, UVERBS_ATTR_DESTROY_QP_RESP, reported, sizeof(reported));
	return p->issue(p->kernel, &cmd.hdr);
}

int program_move(struct program *p, uint32_t qp, uint32_t state)
{
	struct ib_uverbs_modify_qp in = {
	    .qp_handle = qp, .attr_mask = IBV_QP_STATE, .qp_state = (uint8_t)state};
	struct command cmd;

	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &in, sizeof(in), NULL, 0);
	return p->issue(p->kernel, &cmd.hdr);
}

int program_query(struct program *p, uint32_t qp)
{
	struct ib_uverbs_query_qp in = {
	    .response = p->base, .qp_handle = qp, .attr_mask = IBV_QP_STATE};
	struct ib_uverbs_query_qp_resp out;
	struct command cmd;
	int error;

	command_legacy(&cmd, IB_USER_VERBS_CMD_QUERY_QP, &in, sizeof(in), &out, sizeof(out));
	error = p->issue(p->kernel, &cmd.hdr);
	return error ? -error : out.qp_state;
}
