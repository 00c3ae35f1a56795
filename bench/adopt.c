/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of answering a command from a lease: turns a recorded program (tests/fixtures) into a
 * lease with a simulated kernel, then adopts the same commands over and over. Needs no device, and
 * makes no system call while it measures.
 */
#include "cmdlog/adopt.h"
#include "cmdlog/normalise.h"
#include "cmdlog/replay.h"
#include "measure.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_FD 100
#define BUFFER	 512 /* of one attribute */

/* A command as a program issues it, with buffers of its own. */
struct command {
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[WV_CMDLOG_MAX_ATTRS];
	} cmd;
	uint32_t write_cmd;
	_Alignas(8) uint8_t buffers[WV_CMDLOG_MAX_ATTRS][BUFFER];
};

struct pretender {
	struct command *commands; /* all commands of the lease, in order */
	unsigned int n_commands;
	uint32_t handles, fds; /* given out so far */
};

static void give_buffer(struct ib_uverbs_attr *attr, uint8_t *buffer)
{
	if (attr->len <= sizeof(attr->data))
		return;
	if (attr->len > BUFFER)
		give_up(0, "attribute %u is larger than any that was expected", attr->attr_id);
	memcpy(buffer, (void *)(uintptr_t)attr->data, attr->len);
	attr->data = (uintptr_t)buffer;
}

/* Keeps @cmd as the program would issue it. Its descriptors are numbers that a lease maps. */
static void keep_command(struct pretender *p, const struct ib_uverbs_ioctl_hdr *cmd,
			 const struct wv_command_row *row)
{
	struct command *kept = &p->commands[p->n_commands++];

	memcpy(&kept->cmd, cmd, sizeof(*cmd) + cmd->num_attrs * sizeof(cmd->attrs[0]));
	kept->write_cmd = row->write_cmd;
	for (unsigned int i = 0; i < cmd->num_attrs; i++) {
		struct ib_uverbs_attr *attr = &kept->cmd.attrs[i];
		enum wv_kind kind = wv_abi_attr(row, attr->attr_id)->kind;

		if (kind == WV_OUT)
			attr->data = (uintptr_t)kept->buffers[i];
		else
			give_buffer(attr, kept->buffers[i]);
	}
}

static void answer_attr(struct pretender *p, struct ib_uverbs_attr *attr,
			const struct wv_attr_row *row)
{
	if (row->kind == WV_NEW_HANDLE)
		attr->data = p->handles++;
	if (row->kind == WV_NEW_FD)
		attr->data_s64 = FIRST_FD + p->fds++;
	for (unsigned int i = 0; i < row->n_fields && row->kind == WV_OUT; i++) {
		const struct wv_field *f = &row->fields[i];
		uint32_t value = f->kind == WV_NEW_FD ? FIRST_FD + p->fds++ : p->handles++;

		memcpy((uint8_t *)(uintptr_t)attr->data + f->offset, &value, sizeof(value));
	}
}

static int pretend(void *kernel, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct pretender *p = kernel;
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));

	keep_command(p, cmd, row);
	/* libibverbs probes with a command without buffers, which the kernel refuses. */
	if (row->write_cmd == IB_USER_VERBS_CMD_QUERY_DEVICE && cmd->num_attrs == 1)
		return ENOSPC;
	for (unsigned int i = 0; i < cmd->num_attrs; i++)
		answer_attr(p, &cmd->attrs[i], wv_abi_attr(row, cmd->attrs[i].attr_id));
	return 0;
}

static void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		give_up(ENOMEM, "memory");
	return memory;
}

static struct wv_cmdlog *read_record(const char *path)
{
	struct wv_cmdlog *cmdlog = allocate(WV_CMDLOG_MAX_BYTES);
	FILE *file = fopen(path, "r");
	size_t bytes;

	if (!file)
		give_up(errno, "%s", path);
	bytes = fread(cmdlog, 1, WV_CMDLOG_MAX_BYTES, file);
	fclose(file);
	if (wv_cmdlog_check(cmdlog, bytes, WV_RECORD))
		give_up(0, "%s is no recorded command log of this version", path);
	return cmdlog;
}

/* The lease of the program recorded in @path; its commands are kept in @p. */
static struct wv_cmdlog *make_lease(const char *path, struct pretender *p)
{
	struct wv_cmdlog *record = read_record(path), *recipe = allocate(WV_CMDLOG_MAX_BYTES);
	struct wv_cmdlog *lease = allocate(WV_CMDLOG_MAX_BYTES);
	struct wv_replay replay;
	int err = wv_normalise(record, recipe, WV_CMDLOG_MAX_BYTES);

	if (err)
		give_up(-err, "%s cannot be made a recipe", path);
	p->commands = allocate(recipe->n_steps * sizeof(*p->commands));
	err = wv_replay(recipe, pretend, p, lease, WV_CMDLOG_MAX_BYTES, &replay);
	if (err)
		give_up(-err, "step %u cannot be replayed", replay.failed_step);
	free(record);
	free(recipe);
	return lease;
}

/* Adopts all commands from a fresh copy of the lease. Returns how long that took. */
static uint64_t adopt_all(const struct wv_cmdlog *lease, struct wv_cmdlog *copy,
			  struct pretender *p)
{
	struct wv_lease in_use;
	uint64_t start;

	memcpy(copy, lease, lease->bytes);
	wv_lease_init(&in_use, copy);
	for (unsigned int i = 0; i < lease->n_fds; i++)
		in_use.fds[i] = (int)(FIRST_FD + i);
	start = clock_ns();
	for (unsigned int i = 0; i < p->n_commands; i++) {
		struct command *c = &p->commands[i];

		if (!wv_lease_claim(&in_use, &c->cmd.hdr, c->write_cmd))
			give_up(0, "command %u was not adopted", i);
		/* With the kernel's mark it would be another command the next time. */
		for (unsigned int j = 0; j < c->cmd.hdr.num_attrs; j++)
			c->cmd.attrs[j].flags &= (uint16_t)~UVERBS_ATTR_F_VALID_OUTPUT;
	}
	return clock_ns() - start;
}

/* The lower bound for any command that is not adopted. */
static uint64_t time_system_calls(unsigned int n)
{
	uint64_t start = clock_ns();

	for (unsigned int i = 0; i < n; i++)
		syscall(SYS_ioctl, -1, RDMA_VERBS_IOCTL, NULL);
	return clock_ns() - start;
}

int main(int argc, char **argv)
{
	struct pretender p = {0};
	struct wv_cmdlog *lease, *copy;
	uint64_t *claims, *calls;
	size_t n;

	if (argc != 3)
		give_up(0, "usage: adopt TIMES RECORD-FILE");
	n = number(argv[1], 1);
	lease = make_lease(argv[2], &p);
	copy = allocate(WV_CMDLOG_MAX_BYTES);
	claims = allocate(n * sizeof(*claims));
	calls = allocate(n * sizeof(*calls));
	for (size_t i = 0; i < n; i++) {
		claims[i] = adopt_all(lease, copy, &p);
		calls[i] = time_system_calls(p.n_commands);
	}
	printf("commands %u\nlease_bytes %u\nclaims %lu\nsystem_calls %lu\n", p.n_commands,
	       lease->bytes, (unsigned long)median(claims, n), (unsigned long)median(calls, n));
	free(claims);
	free(calls);
	free(copy);
	free(lease);
	free(p.commands);
	return fflush(stdout) ? 1 : 0;
}
