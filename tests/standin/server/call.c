/* SPDX-License-Identifier: BSD-2-Clause */
#include "call.h"

#include "commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int find_attr(const struct hca_call *call, uint16_t id)
{
	for (int i = 0; i < call->n_attrs; i++) {
		if (call->attrs[i].attr_id == id)
			return i;
	}
	return -1;
}

bool hca_call_has(const struct hca_call *call, uint16_t attr)
{
	return find_attr(call, attr) >= 0;
}

uint32_t hca_call_length(const struct hca_call *call, uint16_t attr)
{
	int i = find_attr(call, attr);

	return i < 0 ? 0 : call->attrs[i].len;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

int hca_call_in(const struct hca_call *call, uint16_t attr, void *to, size_t size)
{
	int i = find_attr(call, attr);
	size_t length = i < 0 ? 0 : call->attrs[i].len;

	memset(to, 0, size);
	if (length)
		memcpy(to, call->data[i], length < size ? length : size);
	if (length > size && !is_zero(call->data[i] + size, length - size))
		return -EOPNOTSUPP;
	return 0;
}

uint64_t hca_call_number(const struct hca_call *call, uint16_t attr, uint64_t otherwise)
{
	int i = find_attr(call, attr);

	/* A shorter value is the low bytes; the program leaves the rest of the word undefined. */
	if (i < 0)
		return otherwise;
	if (call->attrs[i].len == 4)
		return (uint32_t)call->attrs[i].data;
	return call->attrs[i].data;
}

int hca_call_object(struct hca_call *call, uint16_t attr, enum hca_kind kind, void *object)
{
	int i = find_attr(call, attr);

	if (i >= 0)
		return hca_object_get(call->ufile, call->attrs[i].data, kind, object);
	*(void **)object = NULL;
	return 0;
}

static int find_events(struct hca_call *call, uint64_t inode, bool is_channel,
		       struct hca_events **events)
{
	*events = hca_events_by_inode(call->ufile, inode, is_channel);
	return *events ? 0 : -EBADF;
}

int hca_call_async(struct hca_call *call, uint16_t attr, struct hca_events **events)
{
	if (hca_call_has(call, attr))
		return find_events(call, call->request->event_file, false, events);
	*events = call->ufile->async;
	return *events ? 0 : -EINVAL;
}

int hca_call_channel(struct hca_call *call, uint16_t attr, struct hca_events **events)
{
	*events = NULL;
	if (!hca_call_has(call, attr))
		return 0;
	return find_events(call, call->request->channel, true, events);
}

static void add_out(struct hca_call *call, int attr, enum standin_out kind, uint64_t data,
		    const void *from, size_t size)
{
	struct standin_out_record record = {
	    .attr = (uint16_t)attr, .kind = kind, .bytes = (uint32_t)size, .data = data};
	size_t room = STANDIN_ANSWER - sizeof(struct standin_reply) - call->out_bytes;

	if (sizeof(record) + size > room)
		return;
	memcpy(call->out + call->out_bytes, &record, sizeof(record));
	call->out_bytes += sizeof(record);
	if (size)
		memcpy(call->out + call->out_bytes, from, size);
	call->out_bytes += size;
	call->n_out++;
}

void hca_call_out(struct hca_call *call, uint16_t attr, const void *from, size_t size)
{
	int i = find_attr(call, attr);

	if (i < 0)
		return;
	add_out(call, i, STANDIN_BYTES, 0, from,
		call->attrs[i].len < size ? call->attrs[i].len : size);
}

void hca_call_out_handle(struct hca_call *call, uint16_t attr, uint32_t handle)
{
	int i = find_attr(call, attr);

	if (i >= 0)
		add_out(call, i, STANDIN_HANDLE, handle, NULL, 0);
}

void hca_call_out_fd(struct hca_call *call, uint16_t attr, int fd, bool word)
{
	int i = find_attr(call, attr);

	if (i < 0 || call->n_new_fds == STANDIN_MAX_FDS) {
		close(fd);
		return;
	}
	add_out(call, i, word ? STANDIN_FD_WORD : STANDIN_FD, call->n_new_fds, NULL, 0);
	call->new_fds[call->n_new_fds++] = fd;
}

int hca_call_pin(struct hca_call *call, enum standin_region region, uint64_t va, uint64_t bytes,
		 struct hca_mem *mem)
{
	const struct standin_memory *where = &call->request->memory[region];
	bool has_fd = where->fd >= 0 && (unsigned int)where->fd < call->n_fds;

	return hca_mem_pin(call->hca, mem, call->pid, va, bytes, where,
			   has_fd ? call->fds[where->fd] : -1);
}

int hca_call_pin_queue(struct hca_call *call, uint64_t va, uint64_t bytes, struct hca_mem *mem)
{
	int error = hca_call_pin(call, STANDIN_BUF, va, bytes, mem);

	if (!error && hca_mem_is_queue(call->hca, mem)) {
		hca_mem_unpin(mem);
		return -EEXIST;
	}
	return error;
}

int hca_call_pin_record(struct hca_call *call, uint64_t va, uint64_t bytes, struct hca_mem *mem)
{
	int error = hca_call_pin(call, STANDIN_DB, va, bytes, mem);

	if (!error && hca_mem_is_record(call->hca, mem)) {
		hca_mem_unpin(mem);
		return -EEXIST;
	}
	return error;
}

int hca_call_firmware(struct hca_call *call)
{
	for (unsigned int i = 0; i < call->command->n_fw; i++) {
		int error = hca_fw(&call->work, call->command->fw[i]);

		if (error)
			return error;
	}
	return 0;
}

static const struct hca_attr_spec *find_spec(const struct hca_command *command, uint16_t id)
{
	for (unsigned int i = 0; i < HCA_MAX_SPECS && command->specs[i].type; i++) {
		if (command->specs[i].id == id)
			return &command->specs[i];
	}
	return NULL;
}

static int check_value(const struct hca_call *call, int i, const struct hca_attr_spec *spec)
{
	const struct ib_uverbs_attr *attr = &call->attrs[i];

	if (attr->attr_data.reserved)
		return -EINVAL;
	if (spec->type != HCA_ATTR_IN && spec->type != HCA_ATTR_OUT)
		return attr->len ? -EINVAL : 0;
	if (attr->len < spec->min)
		return -EINVAL;
	if (spec->type == HCA_ATTR_OUT || !spec->max || attr->len <= spec->max)
		return 0;
	return is_zero(call->data[i] + spec->max, attr->len - spec->max) ? 0 : -EOPNOTSUPP;
}

/* The checks of the kernel's framework, before a command's own function is called. */
static int check_attrs(const struct hca_call *call)
{
	const struct hca_command *command = call->command;

	for (int i = 0; i < call->n_attrs; i++) {
		const struct hca_attr_spec *spec = find_spec(command, call->attrs[i].attr_id);
		int error;

		if (!spec) {
			if (call->attrs[i].flags & UVERBS_ATTR_F_MANDATORY)
				return -EPROTONOSUPPORT;
			continue;
		}
		if (find_attr(call, call->attrs[i].attr_id) != i)
			return -EINVAL;
		error = check_value(call, i, spec);
		if (error)
			return error;
	}
	for (unsigned int i = 0; i < HCA_MAX_SPECS && command->specs[i].type; i++) {
		if (!command->specs[i].optional && !hca_call_has(call, command->specs[i].id))
			return -EINVAL;
	}
	return 0;
}

/* Finds what each attribute longer than its inline bytes points to, in the order sent. */
static int find_data(struct hca_call *call, const uint8_t *at, const uint8_t *end)
{
	for (int i = 0; i < call->n_attrs; i++) {
		uint16_t length = call->attrs[i].len;

		if (length <= sizeof(call->attrs[i].data)) {
			call->data[i] = (const uint8_t *)&call->attrs[i].data;
			continue;
		}
		if (length > end - at)
			return -EFAULT;
		call->data[i] = at;
		at += length;
	}
	return 0;
}

static const struct hca_command *find_command(const struct hca_call *call,
					      const struct ib_uverbs_ioctl_hdr *header)
{
	uint32_t write = (uint32_t)hca_call_number(call, UVERBS_ATTR_WRITE_CMD, 0);

	for (unsigned int i = 0; i < hca_n_commands; i++) {
		const struct hca_command *command = &hca_commands[i];

		if (command->object != header->object_id || command->method != header->method_id)
			continue;
		if (header->object_id != UVERBS_OBJECT_DEVICE ||
		    header->method_id != UVERBS_METHOD_INVOKE_WRITE || command->write == write)
			return command;
	}
	return NULL;
}

int hca_call_parse(struct hca_call *call, const uint8_t *bytes, size_t n_bytes)
{
	struct ib_uverbs_ioctl_hdr header;
	size_t attr_bytes;
	int error;

	if (n_bytes < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes, sizeof(header));
	attr_bytes = header.num_attrs * sizeof(struct ib_uverbs_attr);
	if (header.length != sizeof(header) + attr_bytes || header.length > n_bytes)
		return -EINVAL;
	if (header.reserved1 || header.reserved2)
		return -EPROTONOSUPPORT;
	if (header.driver_id != RDMA_DRIVER_MLX5 || header.num_attrs > HCA_MAX_ATTRS)
		return -EINVAL;
	call->n_attrs = header.num_attrs;
	memcpy(call->attrs, bytes + sizeof(header), attr_bytes);
	error = find_data(call, bytes + header.length, bytes + n_bytes);
	if (error)
		return error;
	call->command = find_command(call, &header);
	return call->command ? check_attrs(call) : -EPROTONOSUPPORT;
}

int hca_call_run(struct hca_call *call)
{
	const struct hca_command *command = call->command;
	int error;

	if (!command->early && !call->ufile->has_context)
		return -EINVAL;
	if (hca_call_length(call, UVERBS_ATTR_CORE_IN) < command->core_in && command->core_in)
		return -ENOSPC;
	if (hca_call_length(call, UVERBS_ATTR_CORE_OUT) < command->core_out && command->core_out)
		return -ENOSPC;
	error = hca_note_command(&call->work, (unsigned int)(command - hca_commands));
	return error ? error : command->run(call);
}
