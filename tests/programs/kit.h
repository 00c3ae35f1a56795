/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs here share. They are plain verbs programs that know nothing of warmverbs. They
 * check every result, and print the same in every run without an error.
 */
#pragma once

#include "support/check.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define PORT	  1
#define GID_INDEX 1 /* of rxe: the IPv4 address */
#define PAYLOAD	  64

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Opens the first device; the list is freed again. */
struct ibv_context *open_device(void);

/*
 * Moves a queue pair to INIT, RTR, RTS; 0 or an errno value, as ibv_modify_qp() does. @peer is the
 * number of a queue pair of the same device.
 */
int to_state(struct ibv_qp *qp, enum ibv_qp_state state);
int to_init(struct ibv_qp *qp, unsigned int access);
int to_rtr(struct ibv_qp *qp, uint32_t peer);
int to_rts(struct ibv_qp *qp);

/* The same with attributes other than the usual ones. */
struct manner {
	enum ibv_mtu mtu;
	uint8_t timeout;
	uint32_t rq_psn, sq_psn;
};
extern const struct manner usual;

int to_rtr_by(struct ibv_qp *qp, uint32_t peer, struct manner how);
int to_rts_by(struct ibv_qp *qp, struct manner how);

/* Moves both to RTS, each with the other as its peer. */
void connect_pair(struct ibv_qp *a, struct ibv_qp *b);

/* Registered memory: messages are sent from its first half and arrive in its second. */
struct memory {
	char *bytes;
	struct ibv_mr *mr;
};
#define MEMORY_BYTES 8192
#define MEMORY_HALF  (MEMORY_BYTES / 2)

struct memory memory_new(struct ibv_pd *pd);
void memory_free(struct memory memory);

void post_receive(struct ibv_qp *qp, struct memory memory);
void post_srq_receive(struct ibv_srq *srq, struct memory memory);
/* Sends @text; returns the result of ibv_post_send(). */
int post_text(struct ibv_qp *qp, struct memory memory, const char *text);
/* RDMA-writes @text into the second half of the memory. */
int post_write(struct ibv_qp *qp, struct memory memory, const char *text);

/* Polls for @n successful completions; gives up after some seconds. */
void await_completions(struct ibv_cq *cq, int n);
/* Whether the second half of the memory begins with @text. */
bool arrived(struct memory memory, const char *text);

/* A context with one PD, one CQ and two queue pairs connected to each other. */
struct pair {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
	struct memory memory;
};

struct pair pair_new(struct ibv_context *context);
/* The same, with completion events through @channel. */
struct pair pair_with_channel(struct ibv_context *context, struct ibv_comp_channel *channel);
/* Sends @text from one queue pair to the other and checks that it arrived. */
void pair_send(struct pair *pair, const char *text);
void pair_free(struct pair *pair);

/* What a program can do, by name. */
struct way {
	const char *name;
	void (*run)(void);
};
/* Runs the one of that name; gives up if there is none. */
void run_way(const struct way *ways, size_t n, const char *name);

/* Prints "at NAME" and waits for a line of input, so that a test can act at this point. */
void stage(const char *name);
