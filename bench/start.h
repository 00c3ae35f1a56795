/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a small RC program does first: from the device list to one queue pair in INIT, verb by verb,
 * and then one RDMA READ.
 */
#pragma once

#include "measure.h"

#include <infiniband/verbs.h>

#define START_GID_INDEX 1

enum start_verb { START_LIST, START_OPEN, START_PD, START_CQ, START_QP, START_INIT, START_VERBS };

extern const char *const start_names[START_VERBS];

struct start {
	const char *device; /* NULL: the first */
	int cq_entries;	    /* 0: a few */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint64_t spent[START_VERBS]; /* nanoseconds */
};

/* Where an RDMA READ reads from. */
struct start_remote {
	uint64_t address;
	uint32_t key;
};

/* All end the program if something fails. No object is ever destroyed. */
/* The device of that name; NULL: the first. */
struct ibv_device *start_device(struct ibv_device **list, const char *name);
/* To the completion queue, for programs that make queue pairs when they have peers. */
void start_to_cq(struct start *s);
void start_to_init(struct start *s);
/* Of a queue pair that start_new_qp() creates. */
struct ibv_qp_init_attr start_shape(const struct start *s);
struct ibv_qp *start_new_qp(const struct start *s);
/* Nanoseconds from the device list to INIT. */
uint64_t start_total(const struct start *s);
struct ibv_mr *start_memory(const struct start *s, void *memory, size_t bytes);
/* Waits for @n successful completions, and leaves the processor to others meanwhile. */
void start_await(const struct start *s, int n);
/* Reads as many bytes as the region @to holds. The queue pair is in RTS. */
void start_read(const struct start *s, const struct ibv_mr *to, struct start_remote from);

/*
 * Connects the queue pair to itself, registers @memory of @bytes, and reads from one half of it to
 * the other.
 */
void start_read_own(struct start *s, void *memory, size_t bytes);
