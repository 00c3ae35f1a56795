/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/pair_put_back.h"

#include "preload/core/context.h"
#include "preload/core/trace.h"
#include "preload/providers.h"
#include "preload/spares/aside_qp.h"

/* Whether anything has come from the partner; also if that is not known. */
static bool has_received(const struct wv_pair_end *end)
{
	uint32_t psn;

	return wv_aside_query_rq_psn(end->spare.qp, &psn) || psn != end->made.peer.rq_psn;
}

/* Moves it to the state that the program knows; receives that it has posted stay posted. */
static int repeat(struct wv_pair_end *end)
{
	struct ibv_qp *qp = end->spare.qp;
	const struct wv_receives *receives =
	    end->n ? wv_provider_receives(wv_context_driver(qp->context->cmd_fd)) : NULL;
	void *saved = NULL;
	int error = receives ? -receives->save(&end->spare.ring, &saved) : 0;

	if (!error)
		error = wv_aside_reset_qp(qp);
	for (uint32_t i = 0; i < end->n && !error; i++)
		error = wv_aside_make_move(qp, &end->moves.all[i]);
	if (receives)
		receives->restore(&end->spare.ring, saved);
	return error;
}

void wv_pair_put_back(struct wv_pair_end *end)
{
	uint64_t start = wv_trace_now();
	int error = repeat(end);

	end->ahead = false;
	end->was_reset = !end->n;
	wv_trace_rollback(start, WV_TRACE_ROLLBACK, UVERBS_OBJECT_QP, error);
}

bool wv_pair_try_put_back(struct wv_pair_end *end)
{
	if (has_received(end))
		return false;
	wv_pair_put_back(end);
	return true;
}
