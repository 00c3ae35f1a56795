/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adoption: answering a program's commands from its lease. This makes no system call; the caller
 * holds the lock that guards the lease.
 */
#pragma once

#include "cmdlog/cmdlog.h"
#include "cmdlog/difference.h"

struct wv_lease {
	struct wv_cmdlog *cmdlog;   /* passed wv_cmdlog_check() */
	struct wv_step *first;	    /* no step before it is WV_FREE */
	uint32_t n_recipe;	    /* steps of the recipe; those after them connect a queue pair */
	int fds[WV_CMDLOG_MAX_FDS]; /* the slots' descriptor numbers in this process */
	uint32_t given;		    /* bit per slot: the program has it */
	bool opening;		    /* the program is inside ibv_open_device() */
	bool any_vector;	    /* CQs with a completion channel may have another vector, too */
	uint8_t *memory;	    /* where the lease's memory is mapped, or NULL */
};

void wv_lease_init(struct wv_lease *lease, struct wv_cmdlog *cmdlog);

/* The lease's memory is mapped at @memory: offsets in the command log become addresses there. */
void wv_lease_place(struct wv_lease *lease, uint8_t *memory);

/* Replaces the lease's command log by @cmdlog, a copy of it. */
void wv_lease_move(struct wv_lease *lease, struct wv_cmdlog *cmdlog);

/*
 * Takes the first unclaimed step equal to @cmd, writes the kernel's recorded answer into the
 * program's buffers and returns the step; its errno is in step->error. NULL if there is none.
 */
struct wv_step *wv_lease_claim(struct wv_lease *lease, struct ib_uverbs_ioctl_hdr *cmd,
			       uint32_t write_cmd);

/*
 * The unclaimed step that moves the QP @handle to @state, or NULL; and taking it without an answer.
 */
struct wv_step *wv_lease_move_to(struct wv_lease *lease, uint32_t handle, int state);
void wv_lease_take(struct wv_lease *lease, struct wv_step *step);

/* The claimed step that created the object @handle. NULL: the lease did not. */
struct wv_step *wv_lease_creator(const struct wv_lease *lease, uint32_t handle);

/* Why wv_lease_claim() found nothing: how @cmd differs from the next unclaimed step like it. */
struct wv_difference wv_lease_explain(struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
				      uint32_t write_cmd);

/*
 * The kernel destroys @handle, now or soon, and reuses the number at once: voids the unclaimed
 * steps that name it.
 */
void wv_lease_kill_handle(struct wv_lease *lease, uint32_t handle);

/* The same for a descriptor of the lease that the program closed. */
void wv_lease_kill_slot(struct wv_lease *lease, unsigned int slot);

/*
 * The kernel is about to move or read the QP @handle: voids the steps that moved it ahead of the
 * program. Returns 1 if there were any. The caller must then first put the QP back to where the
 * WV_TAKEN steps left it.
 */
int wv_lease_kill_moves(struct wv_lease *lease, uint32_t handle);

/*
 * The last unadopted object that uses @handle and so keeps it busy, or NULL. The caller destroys
 * that object (its own users first) and marks the step WV_GONE.
 */
struct wv_step *wv_lease_user(struct wv_lease *lease, uint32_t handle);

/*
 * Translates the user handle of an event. Returns 1 if *@value is now the program's own, 0 if the
 * event is about an object that the program never asked for.
 */
int wv_lease_translate(struct wv_lease *lease, uint64_t *value);
