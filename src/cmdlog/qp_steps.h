/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps about queue pairs: how far one may be moved ahead, and the state that a move asks for.
 */
#pragma once

#include "abi/qp.h"
#include "cmdlog/cmdlog.h"

/* How far the QP that @create makes may be moved ahead; NULL: not at all, or it makes no QP. */
const struct wv_ahead_row *wv_step_ahead(const struct wv_cmdlog *cmdlog, struct wv_step *create);
/* The same for the QP @handle of a record or a lease; NULL also if no step makes it. */
const struct wv_ahead_row *wv_cmdlog_ahead(struct wv_cmdlog *cmdlog, uint32_t handle);

/* The number of the QP that @create, of a lease, has made; 0 if it made none. */
uint32_t wv_step_qp_num(struct wv_step *create);

/* The QP state that a WV_MODIFY step asks for; -1 if none. */
int wv_step_qp_state(struct wv_step *step);
