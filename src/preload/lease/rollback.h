/* SPDX-License-Identifier: BSD-2-Clause */
/* Undoes, in the kernel, what a lease did ahead, because the program diverged. */
#pragma once

#include "cmdlog/adopt.h"

#include <stdbool.h>

/*
 * Puts a QP that the lease moved too far back to the state that the program expects: moves it to
 * RESET, or creates it again if the kernel refuses that, and repeats the moves that the program
 * adopted. Returns whether the QP is in RESET afterwards.
 */
bool wv_rollback_moves(int ufile, struct wv_lease *lease, uint32_t qp_handle);

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
