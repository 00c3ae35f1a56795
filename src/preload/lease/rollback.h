/* Undoing, in the kernel, what a lease did ahead of a program that went another way. */
#pragma once

#include "cmdlog/adopt.h"

/*
 * Puts a QP that the lease moved too far back to where it is for the program: RESET, and from there
 * by the moves that the program adopted. One that the kernel does not reset is made anew. Returns
 * how many moves were repeated.
 */
int wv_rollback_moves(int ufile, struct wv_lease *lease, uint32_t qp_handle);

/* Destroys the unadopted objects whose memory @cmd, which the kernel is about to see, names. */
void wv_rollback_rivals(int ufile, struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
			const struct wv_command_row *row);

/*
 * Destroys the unadopted objects that use @handle, last made first, and theirs before them. Returns
 * how many went.
 */
int wv_rollback_purge(int ufile, struct wv_lease *lease, uint32_t handle);
