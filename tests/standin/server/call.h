/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One command of a program: its attributes, checked against what the kernel declares for the
 * command, and the answers to them.
 */
#pragma once

#include "kernel.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* Fits every attribute but long raw firmware commands, whose head is enough. */
#define HCA_MAX_ATTRS 32

enum hca_attr_type {
	HCA_ATTR_IN = 1, /* a value, or a pointer to more than 8 bytes */
	HCA_ATTR_OUT,
	HCA_ATTR_HANDLE, /* of an object, or an enum's value without payload */
	HCA_ATTR_NEW,	 /* receives a handle */
	HCA_ATTR_FD,
	HCA_ATTR_NEW_FD,
};

/* What the kernel declares: shorter than @min is refused, longer than @max must be zero beyond. */
struct hca_attr_spec {
	uint16_t id;
	uint8_t type;
	bool optional;
	uint16_t min, max; /* max 0: any */
};

struct hca_command;

struct hca_call {
	struct hca *hca;
	struct hca_ufile *ufile;
	const struct hca_command *command;
	struct hca_work work;
	pid_t pid, tid;
	const struct standin_request *request;
	const int *fds; /* that came with it, the caller's */
	unsigned int n_fds;

	uint16_t n_attrs;
	struct ib_uverbs_attr attrs[HCA_MAX_ATTRS];
	const uint8_t *data[HCA_MAX_ATTRS]; /* of IN attributes */

	/* The records of the reply, STANDIN_ANSWER bytes at most with the reply itself. */
	uint8_t *out;
	size_t out_bytes;
	uint32_t n_out;
	int new_fds[STANDIN_MAX_FDS]; /* that go back */
	unsigned int n_new_fds;
};

/*
 * Parses the command that follows the request and sets @call->command. Errors are those of the
 * kernel's framework: -EINVAL, -EPROTONOSUPPORT.
 */
int hca_call_parse(struct hca_call *call, const uint8_t *bytes, size_t n_bytes);

/* Carries it out and completes the reply, except for the error, which is returned. */
int hca_call_run(struct hca_call *call);

bool hca_call_has(const struct hca_call *call, uint16_t attr);
/* Bytes of an attribute, 0 without it. */
uint32_t hca_call_length(const struct hca_call *call, uint16_t attr);

/*
 * Copies an input of up to @size bytes and fills the rest with zeros; all zeros without the
 * attribute. -EOPNOTSUPP if the input is longer and not zero beyond @size.
 */
int hca_call_in(const struct hca_call *call, uint16_t attr, void *to, size_t size);
#define HCA_CALL_IN(call, attr, to) hca_call_in(call, attr, to, sizeof(*(to)))
/* A number of 4 or 8 bytes; @otherwise without the attribute. */
uint64_t hca_call_number(const struct hca_call *call, uint16_t attr, uint64_t otherwise);
/* The object that a handle attribute names; NULL without it. -ENOENT, -EINVAL. */
int hca_call_object(struct hca_call *call, uint16_t attr, enum hca_kind kind, void *object);
/* Event files passed in. -EBADF. */
int hca_call_async(struct hca_call *call, uint16_t attr, struct hca_events **events);
int hca_call_channel(struct hca_call *call, uint16_t attr, struct hca_events **events);

/* Answers as much as the program has room for; nothing without the attribute. */
void hca_call_out(struct hca_call *call, uint16_t attr, const void *from, size_t size);
#define HCA_CALL_OUT(call, attr, from) hca_call_out(call, attr, from, sizeof(*(from)))
void hca_call_out_handle(struct hca_call *call, uint16_t attr, uint32_t handle);
/* Takes @fd. @word: its number goes to where the attribute points. */
void hca_call_out_fd(struct hca_call *call, uint16_t attr, int fd, bool word);

/* Pins memory that the command names: @bytes at @va, the request's region @region. */
int hca_call_pin(struct hca_call *call, enum standin_region region, uint64_t va, uint64_t bytes,
		 struct hca_mem *mem);
/* The same, for a queue: refuses a page that another living queue has, -EEXIST. */
int hca_call_pin_queue(struct hca_call *call, uint64_t va, uint64_t bytes, struct hca_mem *mem);
/* The same, for a doorbell record: refuses one of a living queue of another process, -EEXIST. */
int hca_call_pin_record(struct hca_call *call, uint64_t va, uint64_t bytes, struct hca_mem *mem);

/* The firmware commands that the table has for this command. */
int hca_call_firmware(struct hca_call *call);

/* True if the thread that gives the command has the capability now. */
bool hca_call_is_capable(const struct hca_call *call, unsigned int capability);
