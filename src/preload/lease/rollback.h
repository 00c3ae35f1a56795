/* Undoing, in the kernel, what a lease did ahead, because the program diverged. */
#pragma once

#include "cmdlog/adopt.h"

#include <stdbool.h>

/*
 * Puts a QP that the lease moved too far back to where the program has it: moves it to RESET, or
 * makes it again if the kernel does not reset it, and repeats the moves that the program adopted.
 * Returns whether it is in RESET then.
 */
bool wv_rollback_moves(int ufile, struct wv_lease *lease, uint32_t qp_handle);

/* The kernel is about to see @cmd: destroys the unadopted objects whose memory @cmd names. */
void wv_rollback_rivals(int ufile, struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
			const struct wv_command_row *row);

/*
 * Destroys the unadopted objects that use @handle, the last one first, and before each the objects
 * that use it. Returns how many were destroyed.
 */
int wv_rollback_purge(int ufile, struct wv_lease *lease, uint32_t handle);
