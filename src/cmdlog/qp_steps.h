/*
 * Steps about queue pairs: how far one may be moved ahead of the program, and where to.
 */
#pragma once

#include "abi/qp.h"
#include "cmdlog/cmdlog.h"

/* How far the QP that @create makes may be moved ahead, NULL: it is none. */
const struct wv_ahead_row *wv_step_ahead(const struct wv_cmdlog *cmdlog, struct wv_step *create);
/* The same for the QP @handle of a record or a lease; NULL: made by no step. */
const struct wv_ahead_row *wv_cmdlog_ahead(struct wv_cmdlog *cmdlog, uint32_t handle);

/* The QP state that a WV_MODIFY step asks for; -1 if none. */
int wv_step_qp_state(struct wv_step *step);
