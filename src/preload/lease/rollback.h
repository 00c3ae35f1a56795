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

/*
 * Puts back a queue pair that was moved ahead, to the state that its owner has moved it to: moves
 * it to RESET, and then repeats the owner's own moves. The caller says how, since a lease does this
 * with commands and a set of a prefork with verbs.
 */
#define WV_NO_MOVE -1 /* named outcome: the owner has made no more moves */

struct wv_put_back {
	void *qp;		 /* passed to both functions */
	int (*reset)(void *qp);	 /* to RESET, or created again. 0 or an errno value */
	int (*repeat)(void *qp); /* the owner's next move. 0, an errno value or WV_NO_MOVE */
};

/*
 * Returns whether the queue pair is in RESET afterwards, so that it must look as if it had never
 * left that state. *@error is 0, or the errno value of the step that failed.
 */
bool wv_put_back(const struct wv_put_back *how, int *error);
