/* SPDX-License-Identifier: BSD-2-Clause */
/* Undoes, in the kernel, what a lease did ahead, because the program diverged. */
#pragma once

#include "cmdlog/adopt.h"
#include "preload/core/provider.h"

#include <stdbool.h>

/*
 * Puts a QP that the lease moved too far back to the state that the program expects: moves it to
 * RESET, or creates it again if the kernel refuses that, and repeats the moves that the program
 * adopted. Posts the receives in @ring (may be NULL) again. Returns whether the QP is in RESET
 * afterwards.
 */
bool wv_rollback_moves(int ufile, struct wv_lease *lease, uint32_t qp_handle,
		       const struct wv_ring *ring);

/*
 * The kernel is about to execute @cmd: destroys the unadopted objects that use the same memory as
 * @cmd.
 */
void wv_rollback_rivals(int ufile, struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
			const struct wv_command_row *row);

/*
 * Destroys the unadopted objects that use @handle, the latest first, and each one after the objects
 * that use it.
 */
void wv_rollback_purge(int ufile, struct wv_lease *lease, uint32_t handle);
