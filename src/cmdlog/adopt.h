/*
 * Adoption: answering a program's commands from its lease. Pure: no system call is made here, and
 * the caller holds whatever lock guards the lease.
 */
#pragma once

#include "cmdlog/cmdlog.h"
#include "cmdlog/difference.h"

struct wv_lease {
	struct wv_cmdlog *cmdlog;   /* passed wv_cmdlog_check() */
	struct wv_step *first;	    /* no step before it is WV_FREE */
	int fds[WV_CMDLOG_MAX_FDS]; /* the slots' descriptor numbers in this process */
	uint32_t given;		    /* bit per slot: the program has it */
	bool opening;		    /* the program is inside ibv_open_device() */
	uint8_t *memory;	    /* where the lease's memory is mapped, or NULL */
};

void wv_lease_init(struct wv_lease *lease, struct wv_cmdlog *cmdlog);

/* The lease's memory is mapped at @memory: addresses in the command log become the program's. */
void wv_lease_place(struct wv_lease *lease, uint8_t *memory);

/* @cmdlog is a copy of the lease's, and takes its place. */
void wv_lease_move(struct wv_lease *lease, struct wv_cmdlog *cmdlog);

/*
 * Takes the first unclaimed step equal to @cmd, writes the kernel's recorded answer into the
 * program's buffers and returns the step; its errno is in step->error. NULL if there is none.
 */
struct wv_step *wv_lease_claim(struct wv_lease *lease, struct ib_uverbs_ioctl_hdr *cmd,
			       uint32_t write_cmd);

/*
 * Memory for @bytes of a queue: the first of that size that is unclaimed. NULL if there is none.
 */
void *wv_lease_claim_memory(struct wv_lease *lease, size_t bytes);

/* Why wv_lease_claim() found nothing, judged by the nearest unclaimed step. */
struct wv_difference wv_lease_explain(struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
				      uint32_t write_cmd);

/*
 * @handle is about to be destroyed by the kernel, or is: unclaimed steps that name it can never be
 * right again, since the number is used anew at once.
 */
void wv_lease_kill_handle(struct wv_lease *lease, uint32_t handle);

/* The same for a descriptor of the lease that the program closed. */
void wv_lease_kill_slot(struct wv_lease *lease, unsigned int slot);

/*
 * The QP @handle is about to be moved or read by the kernel: steps that moved it ahead of the
 * program die. Returns 1 if there were any, so that the QP must be put back first, to where the
 * steps that are WV_TAKEN left it.
 */
int wv_lease_kill_moves(struct wv_lease *lease, uint32_t handle);

/*
 * The last unadopted object that uses @handle and so keeps it busy, or NULL. The caller destroys
 * it (its own users first) and marks the step WV_GONE.
 */
struct wv_step *wv_lease_user(struct wv_lease *lease, uint32_t handle);

/*
 * Translates the user handle of an event. Returns 1 if *@value is now what the program expects, 0
 * if the event is about an object that the program never asked for.
 */
int wv_lease_translate(struct wv_lease *lease, uint64_t *value);
