/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_kernel.h"

#include "base/base.h"
#include "cmdlog/command.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

void fake_kernel_init(struct fake_kernel *kernel)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->fail_at = -1;
}

/* One command in the making. */
struct call {
	struct fake_kernel *kernel;
	struct ib_uverbs_ioctl_hdr *cmd;
	const struct wv_command_row *row;
	uint32_t write_cmd;
	struct fake_object made; /* what it would make */
	uint32_t new_handle;
	int new_fd;
};

static struct fake_object *object_at(struct fake_kernel *k, uint64_t handle)
{
	return handle < FAKE_OBJECTS && k->objects[handle].live ? &k->objects[handle] : NULL;
}

/* Which kind of object a handle in a create command must name; 0 (DEVICE): any. */
static uint16_t kind_wanted(const struct call *c, uint16_t attr)
{
	if (c->cmd->object_id == UVERBS_OBJECT_QP && c->cmd->method_id == UVERBS_METHOD_QP_CREATE)
		return attr == UVERBS_ATTR_CREATE_QP_PD_HANDLE	  ? UVERBS_OBJECT_PD
		       : attr == UVERBS_ATTR_CREATE_QP_SRQ_HANDLE ? UVERBS_OBJECT_SRQ
								  : UVERBS_OBJECT_CQ;
	if (c->cmd->object_id == UVERBS_OBJECT_SRQ && c->cmd->method_id == UVERBS_METHOD_SRQ_CREATE)
		return UVERBS_OBJECT_PD;
	return c->cmd->object_id;
}

/* What is mapped at @address, however often and wherever else it is: a file's page, or itself. */
static uint64_t mapped_at(uint64_t address)
{
	unsigned long start, end, offset, inode;
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t found = address;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %lu", &start, &end, &offset, &inode) == 4 &&
		    address >= start && address < end && inode)
			found = wv_hash(inode, &(uint64_t){offset + address - start}, 8);
	if (maps)
		fclose(maps);
	return found;
}

/* Pins memory, as the kernel does: what is not there is refused. */
static int pin(struct call *c, const struct wv_field *f, uint64_t address)
{
	uint8_t *seen = c->made.seen;
	struct iovec to = {seen, f->kind == WV_BUFFER ? FAKE_SEEN : 1};
	struct iovec from = {(void *)(uintptr_t)address, to.iov_len};

	if (!address)
		return 0;
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)to.iov_len)
		return EFAULT;
	*(f->kind == WV_BUFFER ? &c->made.buffer : &c->made.doorbell) = mapped_at(address);
	return 0;
}

static int pin_queues(struct call *c, const struct ib_uverbs_attr *attr,
		      const struct wv_attr_row *known)
{
	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];
		int err = 0;

		if (wv_is_memory(f) && wv_field_fits(f, attr->len))
			err = pin(c, f, wv_field_get(f, wv_attr_input(attr)));
		if (err)
			return err;
	}
	return 0;
}

static void count_shared(struct fake_kernel *k, const struct fake_object *made)
{
	for (unsigned int i = 0; i < FAKE_OBJECTS; i++) {
		const struct fake_object *o = &k->objects[i];

		if (o->live && ((made->buffer && made->buffer == o->buffer) ||
				(made->doorbell && made->doorbell == o->doorbell)))
			k->shared++;
	}
}

static int look_up_inputs(struct call *c)
{
	for (unsigned int i = 0; i < c->cmd->num_attrs; i++) {
		struct ib_uverbs_attr *attr = &c->cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(c->row, attr->attr_id);
		struct fake_object *object;

		if (!known)
			return EPROTONOSUPPORT;
		if (known->kind == WV_FD && fcntl((int)attr->data_s64, F_GETFD) < 0)
			return EBADF;
		if (known->kind == WV_EQUAL && pin_queues(c, attr, known))
			return EFAULT;
		if (known->kind == WV_TOKEN)
			c->made.user_handle = attr->data;
		if (known->kind != WV_HANDLE)
			continue;
		object = object_at(c->kernel, attr->data);
		if (!object || object->kind != kind_wanted(c, attr->attr_id))
			return EINVAL;
		if (c->made.n_uses < FAKE_USES)
			c->made.uses[c->made.n_uses++] = (uint32_t)attr->data;
	}
	return 0;
}

static uint32_t *count_of(struct call *c, uint16_t kind)
{
	return &c->kernel->made[(kind >> UVERBS_ID_NS_SHIFT) * 64 + kind % 64];
}

static int make_object(struct call *c, uint16_t kind)
{
	uint32_t handle = 0;

	while (handle < FAKE_OBJECTS && c->kernel->objects[handle].live)
		handle++;
	if (handle == FAKE_OBJECTS)
		return ENOMEM;
	c->made.kind = kind;
	c->made.live = true;
	c->made.ordinal = (*count_of(c, kind))++;
	count_shared(c->kernel, &c->made);
	c->kernel->objects[handle] = c->made;
	c->new_handle = handle;
	return 0;
}

static int make_fd(struct call *c, uint16_t kind)
{
	c->made.kind = kind;
	c->made.ordinal = (*count_of(c, kind))++;
	c->new_fd = memfd_create("fake events", MFD_CLOEXEC);
	return c->new_fd < 0 ? errno : 0;
}

static int destroy(struct call *c)
{
	uint32_t handle = wv_command_target(c->cmd, c->row);
	struct fake_object *object = object_at(c->kernel, handle);

	if (!object)
		return EINVAL;
	for (unsigned int i = 0; i < FAKE_OBJECTS; i++)
		for (unsigned int u = 0; c->kernel->objects[i].live; u++) {
			if (u == c->kernel->objects[i].n_uses)
				break;
			if (c->kernel->objects[i].uses[u] == handle)
				return EBUSY;
		}
	object->live = false;
	return 0;
}

static const void *core_in(struct call *c, size_t at_least)
{
	for (unsigned int i = 0; i < c->cmd->num_attrs; i++)
		if (c->cmd->attrs[i].attr_id == UVERBS_ATTR_CORE_IN &&
		    c->cmd->attrs[i].len >= at_least)
			return wv_attr_input(&c->cmd->attrs[i]);
	return NULL;
}

static struct fake_object *target_qp(struct call *c)
{
	struct fake_object *qp = object_at(c->kernel, wv_command_target(c->cmd, c->row));

	return qp && qp->kind == UVERBS_OBJECT_QP ? qp : NULL;
}

static bool may_move(uint32_t from, uint32_t to)
{
	switch (to) {
	case IBV_QPS_RESET:
	case IBV_QPS_ERR:
		return true;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	default:
		return from + 1 == to;
	}
}

static int modify_qp(struct call *c)
{
	const struct ib_uverbs_modify_qp *in = core_in(c, sizeof(*in));
	struct fake_object *qp = target_qp(c);

	if (!in || !qp)
		return EINVAL;
	if (in->attr_mask & IBV_QP_STATE && !may_move(qp->state, in->qp_state))
		return EINVAL;
	if (in->attr_mask & IBV_QP_STATE)
		qp->state = in->qp_state;
	if (in->attr_mask & IBV_QP_ACCESS_FLAGS)
		qp->access = in->qp_access_flags;
	if (in->attr_mask & IBV_QP_DEST_QPN)
		qp->peer = in->dest_qp_num;
	if (in->attr_mask & IBV_QP_RQ_PSN)
		qp->rq_psn = in->rq_psn;
	if (in->attr_mask & IBV_QP_SQ_PSN)
		qp->sq_psn = in->sq_psn;
	if (in->attr_mask & IBV_QP_STATE && in->qp_state == IBV_QPS_RESET && c->kernel->reset)
		c->kernel->reset();
	c->made.kind = UVERBS_OBJECT_QP;
	return 0;
}

static int query_qp(struct call *c)
{
	struct fake_object *qp = target_qp(c);

	if (!qp)
		return EINVAL;
	c->made = *qp;
	return 0;
}

static bool has_room(struct call *c, uint16_t id, size_t at_least)
{
	for (unsigned int i = 0; i < c->cmd->num_attrs; i++)
		if (c->cmd->attrs[i].attr_id == id)
			return c->cmd->attrs[i].len >= at_least;
	return false;
}

/* A command whose answer has no room is not begun: nothing is made that nobody could name. */
static bool answer_fits(struct call *c)
{
	switch (c->write_cmd) {
	case WV_NO_WRITE_CMD:
		return c->cmd->object_id != UVERBS_OBJECT_ASYNC_EVENT ||
		       has_room(c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	case IB_USER_VERBS_CMD_QUERY_DEVICE:
		return has_room(c, UVERBS_ATTR_CORE_OUT,
				sizeof(struct ib_uverbs_query_device_resp));
	case IB_USER_VERBS_CMD_ALLOC_PD:
	case IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL:
		return has_room(c, UVERBS_ATTR_CORE_OUT, sizeof(uint32_t));
	default:
		return true;
	}
}

static int legacy(struct call *c)
{
	switch (c->write_cmd) {
	case IB_USER_VERBS_CMD_ALLOC_PD:
		return make_object(c, UVERBS_OBJECT_PD);
	case IB_USER_VERBS_CMD_REG_MR:
		return make_object(c, UVERBS_OBJECT_MR);
	case IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL:
		return make_fd(c, UVERBS_OBJECT_COMP_CHANNEL);
	case IB_USER_VERBS_CMD_MODIFY_QP:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP:
		return modify_qp(c);
	case IB_USER_VERBS_CMD_QUERY_QP:
		return query_qp(c);
	default:
		return c->row->class_ == WV_CONSTANT ? 0 : EPROTONOSUPPORT;
	}
}

static int carry_out(struct call *c)
{
	if (c->row->class_ == WV_DESTROY)
		return destroy(c);
	if (c->write_cmd != WV_NO_WRITE_CMD)
		return legacy(c);
	if (c->cmd->object_id == UVERBS_OBJECT_ASYNC_EVENT)
		return make_fd(c, UVERBS_OBJECT_ASYNC_EVENT);
	if (c->cmd->object_id == UVERBS_OBJECT_DEVICE)
		return 0;
	return c->row->class_ == WV_CREATE || c->row->class_ == WV_PRIVILEGED
		   ? make_object(c, c->cmd->object_id)
		   : EPROTONOSUPPORT;
}

static void put(uint8_t *buffer, size_t len, size_t offset, const void *value, size_t bytes)
{
	if (offset + bytes <= len)
		memcpy(buffer + offset, value, bytes);
}

uint8_t fake_answer_byte(uint16_t kind, unsigned int ordinal, uint16_t attr, unsigned int i)
{
	bool is_top = attr == UVERBS_ATTR_CREATE_QP_RESP_QP_NUM && i == 3;

	return is_top ? 0 : (uint8_t)(0x11 * kind + 0x35 * ordinal + 0x07 * attr + i);
}

static void write_output(struct call *c, struct ib_uverbs_attr *attr,
			 const struct wv_attr_row *known)
{
	uint8_t *buffer = (uint8_t *)(uintptr_t)attr->data;

	for (unsigned int i = 0; i < attr->len; i++)
		buffer[i] = fake_answer_byte(c->made.kind, c->made.ordinal, attr->attr_id, i);
	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];

		if (f->kind == WV_NEW_HANDLE)
			put(buffer, attr->len, f->offset, &c->new_handle, f->size);
		if (f->kind == WV_NEW_NUMBER)
			put(buffer, attr->len, f->offset, &c->kernel->next_number, f->size);
		c->kernel->next_number += f->kind == WV_NEW_NUMBER;
		if (f->kind == WV_NEW_FD)
			put(buffer, attr->len, f->offset, &c->new_fd, f->size);
	}
	if (c->write_cmd != IB_USER_VERBS_CMD_QUERY_QP)
		return;
	put(buffer, attr->len, offsetof(struct ib_uverbs_query_qp_resp, qp_state), &c->made.state,
	    1);
	/* The packet that it expects next. */
	put(buffer, attr->len, offsetof(struct ib_uverbs_query_qp_resp, rq_psn),
	    &(uint32_t){(c->made.rq_psn + c->made.received) & 0xffffff}, sizeof(uint32_t));
}

static void answer(struct call *c)
{
	for (unsigned int i = 0; i < c->cmd->num_attrs; i++) {
		struct ib_uverbs_attr *attr = &c->cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(c->row, attr->attr_id);

		if (known->kind == WV_NEW_HANDLE)
			attr->data = c->new_handle;
		else if (known->kind == WV_NEW_FD)
			attr->data_s64 = c->new_fd;
		else if (known->kind == WV_OUT)
			write_output(c, attr, known);
		/* On pointers that it wrote, not on handles (tried: Linux 6.1). */
		if (known->kind == WV_OUT)
			attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	}
}

static bool well_formed(const struct call *c)
{
	return c->row &&
	       c->cmd->length == sizeof(*c->cmd) + c->cmd->num_attrs * sizeof(c->cmd->attrs[0]);
}

int fake_kernel_issue(void *kernel, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct call c = {.kernel = kernel, .cmd = cmd, .new_handle = WV_NONE, .new_fd = -1};
	bool chosen = c.kernel->fail_at >= 0 && c.kernel->issued == (unsigned int)c.kernel->fail_at;
	int err;

	c.kernel->issued++;
	c.write_cmd = wv_abi_write_cmd(cmd);
	c.row = wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, c.write_cmd);
	if (!well_formed(&c))
		return EINVAL;
	if (chosen)
		return c.kernel->fail_errno;
	if (!answer_fits(&c))
		return ENOSPC;
	err = look_up_inputs(&c);
	if (!err)
		err = carry_out(&c);
	if (!err)
		answer(&c);
	return err;
}

unsigned int fake_kernel_live(const struct fake_kernel *kernel, uint16_t kind)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < FAKE_OBJECTS; i++)
		n += kernel->objects[i].live && kernel->objects[i].kind == kind;
	return n;
}
