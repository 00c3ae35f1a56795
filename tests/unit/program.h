/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that does again what a record says, with pointers, handles and descriptors of its own.
 */
#pragma once

#include "cmdlog/cmdlog.h"
#include "cmdlog/replay.h"

#include <stdbool.h>

struct program {
	wv_issue_fn issue;
	void *kernel;
	uint64_t base;		/* where its memory is: sets its pointers apart from another's */
	bool registers_mr;	/* after each PD, as programs do; no record shows it */
	uint32_t handles[1024]; /* by the number in the record */
	int fds[1024];
	unsigned int n_steps;
	int errors[WV_CMDLOG_MAX_STEPS];
	uint64_t
	    answers[WV_CMDLOG_MAX_STEPS]; /* a hash of all that it was told but handles and fds */
};

void program_init(struct program *p, wv_issue_fn issue, void *kernel, uint64_t base);

/*
 * Issues the command of one step of a record: 0 or an errno value. What no record shows being made
 * (memory regions, addresses) the program has not made, so it does not destroy it either.
 */
int program_step(struct program *p, struct wv_step *step);
/* All of them, or those from @first up to, but without, @end. */
void program_run(struct program *p, struct wv_cmdlog *record);
void program_run_part(struct program *p, struct wv_cmdlog *record, unsigned int first,
		      unsigned int end);

/* Commands that records do not hold. Handles are the program's. 0 or an errno value. */
int program_register_mr(struct program *p);
int program_destroy(struct program *p, uint16_t object, uint32_t handle);
int program_move(struct program *p, uint32_t qp, uint32_t state);
/* The state that the program is told, or a negative errno. */
int program_query(struct program *p, uint32_t qp);

/* The user handle that the program gave in its step number @index, counted from 0. */
uint64_t program_token(const struct program *p, unsigned int index);
