/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One command, from its arrival to its answer, and what it means for the context's lease or
 * recording.
 */
#pragma once

#include "cmdlog/difference.h"
#include "preload/core/context.h"

struct wv_passage {
	struct wv_context *context;
	int fd;
	struct ib_uverbs_ioctl_hdr *cmd;
	uint32_t write_cmd;
	uint64_t start;			  /* for the trace */
	const struct wv_command_row *row; /* from wv_passage_identify() on: what command it is */
	uint32_t target;
	int state;	/* that it moves a QP to (enum ibv_qp_state), or -1 */
	bool connects;	/* from wv_passage_look() on: it moves a QP further than a lease may */
	bool awaited;	/* the context is to be changed once the kernel has executed it */
	bool undecided; /* it is a divergence unless the kernel refuses it */
	/* Of a queue pair that was connected ahead (pairs/paired.h): */
	bool used;     /* it is connected now as it was */
	bool meets;    /* the kernel is to connect it with the numbers of the pair */
	bool hides;    /* the answer to the query is to show it in the state `shown` */
	uint8_t shown; /* enum ibv_qp_state */
	bool alloc_mr; /* as in scope.h */
	uint16_t why;  /* enum wv_why: why it is not connected as it was, or as in scope.h; or 0 */
};

/* Finds out what command it is, and about which object. */
void wv_passage_identify(struct wv_passage *p);

/*
 * The same, for a command that is not adopted, and whether it gives a QP a peer. Call with the lock
 * held.
 */
void wv_passage_look(struct wv_passage *p);

/* Whether the command moves a QP to the state in which the program uses it. */
bool wv_passage_makes_ready(const struct wv_passage *p);

/* Why the command, which goes to the kernel, was not adopted. Call with the lock held. */
struct wv_difference wv_passage_why_not(const struct wv_passage *p);

/*
 * Counts the command, which goes to the kernel for the reason @why, for the report on the lease. If
 * it is undecided, wv_passage_decide() does, once the kernel has answered with @error. Call both
 * with the lock held.
 */
void wv_passage_count(struct wv_passage *p, struct wv_difference why);
void wv_passage_decide(const struct wv_passage *p, struct wv_difference why, int error);

/* The kernel is about to execute the command on a leased ufile. Call with the lock held. */
void wv_passage_note_move(const struct wv_passage *p);
