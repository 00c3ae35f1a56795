/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands: ioctls on a uverbs file. They are passed to the server, which knows what they mean. */
#include "memory.h"
#include "next.h"
#include "rpc.h"
#include "shared.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_ATTRS 32
#define NONE	  UINT16_MAX

/*
 * The parts of a command that mean something in this process only: addresses of memory to pin, as
 * offsets in an attribute, and descriptors of event files.
 */
static const struct special {
	uint16_t object, method;
	uint16_t attr, buf, db;
	uint16_t event_file, channel;
} specials[] = {
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_UHW_IN,
     offsetof(struct mlx5_ib_create_cq, buf_addr), offsetof(struct mlx5_ib_create_cq, db_addr),
     UVERBS_ATTR_CREATE_CQ_EVENT_FD, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_UHW_IN,
     offsetof(struct mlx5_ib_create_srq, buf_addr), offsetof(struct mlx5_ib_create_srq, db_addr),
     UVERBS_ATTR_CREATE_SRQ_EVENT_FD, NONE},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_ATTR_UHW_IN,
     offsetof(struct mlx5_ib_create_qp, buf_addr), offsetof(struct mlx5_ib_create_qp, db_addr),
     UVERBS_ATTR_CREATE_QP_EVENT_FD, NONE},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, UVERBS_ATTR_CORE_IN,
     offsetof(struct ib_uverbs_reg_mr, start), NONE, NONE, NONE},
};

static const struct ib_uverbs_attr *find_attr(const struct ib_uverbs_ioctl_hdr *cmd, uint16_t id)
{
	for (int i = 0; i < cmd->num_attrs; i++) {
		if (cmd->attrs[i].attr_id == id)
			return &cmd->attrs[i];
	}
	return NULL;
}

/* Of the legacy commands, only this one has an address. */
static bool is_special(const struct ib_uverbs_ioctl_hdr *cmd, const struct special *special)
{
	const struct ib_uverbs_attr *write;

	if (cmd->object_id != special->object || cmd->method_id != special->method)
		return false;
	if (special->object != UVERBS_OBJECT_DEVICE)
		return true;
	write = find_attr(cmd, UVERBS_ATTR_WRITE_CMD);
	return write && (uint32_t)write->data == IB_USER_VERBS_CMD_REG_MR;
}

static uint64_t address_at(const struct ib_uverbs_attr *attr, uint16_t offset)
{
	uint64_t address;

	if (!attr || offset == NONE || attr->len < offset + sizeof(address))
		return 0;
	memcpy(&address, (const char *)(uintptr_t)attr->data + offset, sizeof(address));
	return address;
}

static uint64_t pipe_of(const struct ib_uverbs_attr *attr)
{
	struct stat st;

	if (!attr || attr->data_s64 < 0 || NEXT(fstat)((int)attr->data_s64, &st) ||
	    !S_ISFIFO(st.st_mode))
		return 0;
	return st.st_ino;
}

static int add_special(const struct ib_uverbs_ioctl_hdr *cmd, struct standin_request *request,
		       int *fds, unsigned int *n_fds)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		const struct special *s = &specials[i];

		if (!is_special(cmd, s))
			continue;
		request->memory[STANDIN_BUF].va = address_at(find_attr(cmd, s->attr), s->buf);
		request->memory[STANDIN_DB].va = address_at(find_attr(cmd, s->attr), s->db);
		if (s->event_file != NONE)
			request->event_file = pipe_of(find_attr(cmd, s->event_file));
		if (s->channel != NONE)
			request->channel = pipe_of(find_attr(cmd, s->channel));
		break;
	}
	for (int i = 0; i < STANDIN_REGIONS && !error; i++)
		error = standin_describe(&request->memory[i], fds, n_fds);
	return error;
}

static void take_out(struct ib_uverbs_attr *attr, const struct standin_out_record *record,
		     const uint8_t *bytes, const struct standin_answer *answer)
{
	void *to = (void *)(uintptr_t)attr->data;

	switch (record->kind) {
	case STANDIN_BYTES:
		memcpy(to, bytes, record->bytes);
		break;
	case STANDIN_HANDLE:
		attr->data = record->data;
		break;
	case STANDIN_FD:
		attr->data_s64 = answer->fds[record->data];
		break;
	case STANDIN_FD_WORD:
		memcpy(to, &answer->fds[record->data], sizeof(int));
		break;
	}
	attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

static void take_answer(struct ib_uverbs_ioctl_hdr *cmd, const struct standin_answer *answer)
{
	const uint8_t *at = answer->bytes + sizeof(answer->reply);

	for (uint32_t i = 0; i < answer->reply.n_out; i++) {
		struct standin_out_record record;

		memcpy(&record, at, sizeof(record));
		at += sizeof(record);
		take_out(&cmd->attrs[record.attr], &record, at, answer);
		at += record.bytes;
	}
}

static int carry(uint64_t cookie, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct standin_request request = {
	    .op = STANDIN_IOCTL, .tid = (uint32_t)syscall(SYS_gettid), .ufile = cookie};
	struct iovec iov[2 + MAX_ATTRS] = {{&request, sizeof(request)}, {cmd, cmd->length}};
	struct standin_answer answer;
	unsigned int n_fds = 0;
	size_t n_iov = 2;
	int fds[STANDIN_MAX_FDS], error;

	if (cmd->num_attrs > MAX_ATTRS ||
	    cmd->length != sizeof(*cmd) + cmd->num_attrs * sizeof(cmd->attrs[0]))
		return -EINVAL;
	error = add_special(cmd, &request, fds, &n_fds);
	if (error)
		return error;
	for (int i = 0; i < cmd->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];

		if (attr->len > sizeof(attr->data))
			iov[n_iov++] = (struct iovec){(void *)(uintptr_t)attr->data, attr->len};
	}
	error = standin_call(iov, n_iov, fds, n_fds, &answer);
	if (!error)
		take_answer(cmd, &answer);
	return error;
}

STANDIN_PUBLIC int ioctl(int fd, unsigned long number, ...)
{
	uint64_t cookie;
	va_list args;
	void *arg;
	int error;

	va_start(args, number);
	arg = va_arg(args, void *);
	va_end(args);
	if (number != RDMA_VERBS_IOCTL || !standin_is_ufile(fd, &cookie))
		return NEXT(ioctl)(fd, number, arg);
	error = carry(cookie, arg);
	if (!error)
		return 0;
	errno = -error;
	return -1;
}

/* A page of the device: the file that the server sends is mapped instead; the mapping keeps it. */
static void *map_page(uint64_t cookie, void *at, size_t length, int prot, int flags, off_t offset)
{
	struct standin_request request = {.op = STANDIN_MMAP,
					  .ufile = cookie,
					  .offset = (uint64_t)offset,
					  .length = length,
					  .prot = (uint32_t)prot,
					  .flags = (uint32_t)flags};
	struct iovec iov = {&request, sizeof(request)};
	struct standin_answer answer;
	int error = standin_call(&iov, 1, NULL, 0, &answer);
	void *page;
	int fd;

	if (error) {
		errno = -error;
		return MAP_FAILED;
	}
	fd = answer.fds[0];
	page = NEXT(mmap)(at, length, prot, flags, fd, (off_t)answer.reply.offset);
	NEXT(close)(fd);
	return page;
}

static void *map(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	uint64_t cookie;

	if (flags & MAP_FIXED)
		standin_forget_shared(at, length);
	if (flags & MAP_SHARED) {
		if (fd >= 0 && standin_is_ufile(fd, &cookie))
			return map_page(cookie, at, length, prot, flags, offset);
		standin_note_shared(fd);
		if (flags & MAP_ANONYMOUS && standin_active())
			return standin_map_shared(at, length, prot, flags);
	}
	return NEXT(mmap)(at, length, prot, flags, fd, offset);
}

STANDIN_PUBLIC void *mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	return map(at, length, prot, flags, fd, offset);
}

STANDIN_PUBLIC void *mmap64(void *at, size_t length, int prot, int flags, int fd, off64_t offset)
{
	return map(at, length, prot, flags, fd, offset);
}

STANDIN_PUBLIC int munmap(void *at, size_t length)
{
	standin_forget_shared(at, length);
	return NEXT(munmap)(at, length);
}
