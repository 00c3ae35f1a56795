/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/connector.h"

#include "abi/qp.h"
#include "base/base.h"

#include <errno.h>
#include <string.h>

/* Room for the two moves in the command log of a lease. */
static int grow(struct wv_pooled_lease *lease)
{
	void *larger = realloc(lease->cmdlog, lease->cmdlog->bytes + WV_MOVES_MAX_BYTES);

	if (!larger)
		return -ENOMEM;
	lease->cmdlog = larger;
	return 0;
}

/* Runs in the thread. */
static void run(struct wv_work *work)
{
	struct wv_connect_job *job = (struct wv_connect_job *)work;
	struct wv_pooled_lease *lease = job->lease;
	const struct wv_lease_pair *pair = &lease->pair;
	struct wv_qp_peer peer = {
	    .qp_num = pair->peer_qp_num,
	    .psn = pair->psn,
	    .peer_psn = pair->peer_psn,
	    .flow_label = job->flow_label,
	};
	size_t capacity = lease->cmdlog->bytes + WV_MOVES_MAX_BYTES;

	memcpy(peer.gid, pair->peer_gid, sizeof(peer.gid));
	job->err = grow(lease)
		       ?: wv_replay_moves(lease->cmdlog, capacity, pair->create,
					  (struct wv_cmdlog *)job->moves, &peer, job->issue,
					  &lease->fds.all[0]);
}

static void done(struct wv_work *work)
{
	struct wv_connect_job *job = (struct wv_connect_job *)work;

	job->done(job->arg, job);
}

void wv_connect_lease(struct wv_line *line, struct wv_connect_job *job)
{
	job->work = (struct wv_work){.run = run, .done = done};
	job->err = -ECANCELED; /* unless it runs */
	wv_line_give(line, &job->work);
}
