/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/rollback.h"

#include "abi/compose.h"
#include "cmdlog/command.h"
#include "cmdlog/qp_steps.h"
#include "cmdlog/rivals.h"
#include "preload/core/trace.h"
#include "preload/providers.h"

#include <errno.h>
#include <sys/ioctl.h>

#define MAX_PLUGS 64 /* lower handles to occupy before the wanted one */

static int issue(int ufile, struct ib_uverbs_ioctl_hdr *cmd)
{
	return ioctl(ufile, RDMA_VERBS_IOCTL, cmd) < 0 ? errno : 0;
}

static int reset(int ufile, uint32_t driver_id, uint32_t qp_handle)
{
	struct wv_small_command cmd;

	wv_compose_reset(&cmd, driver_id, qp_handle);
	return issue(ufile, &cmd.hdr);
}

/* Destroys the object @handle that @create created. */
static int destroy(int ufile, uint32_t driver_id, const struct wv_step *create, uint32_t handle)
{
	uint64_t start = wv_trace_now();
	struct wv_small_command cmd;
	int err = wv_compose_destroy(&cmd, driver_id, wv_step_row(create), handle);

	if (err)
		return err;
	err = issue(ufile, &cmd.hdr);
	wv_trace_rollback(start, WV_TRACE_PURGE, wv_step_row(create)->about, err);
	return err;
}

/*
 * Destroys an unadopted object, after the objects that use it. The object counts as gone first:
 * objects of a wrong lease may use each other in a circle.
 */
static void purge_object(int ufile, struct wv_lease *lease, struct wv_step *step)
{
	step->state = WV_GONE;
	wv_rollback_purge(ufile, lease, step->new_handle);
	wv_lease_kill_handle(lease, step->new_handle);
	destroy(ufile, lease->cmdlog->driver_id, step, step->new_handle);
}

void wv_rollback_purge(int ufile, struct wv_lease *lease, uint32_t handle)
{
	struct wv_step *user;

	while ((user = wv_lease_user(lease, handle)))
		purge_object(ufile, lease, user);
}

void wv_rollback_rivals(int ufile, struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
			const struct wv_command_row *row)
{
	struct wv_step *rival;

	while ((rival = wv_lease_rival(lease, cmd, row)))
		purge_object(ufile, lease, rival);
}

/*
 * Repeats a step of @lease with the program's own user handle. The new handle is stored in *@made.
 */
static int again(int ufile, struct wv_lease *lease, struct wv_step *step, uint32_t *made)
{
	struct wv_command cmd;
	int err;

	wv_command_fill(&cmd, step, lease->cmdlog->driver_id, lease->fds, step->user_handle);
	err = issue(ufile, &cmd.hdr);
	if (!err && made)
		*made = wv_command_made(&cmd.hdr, wv_step_row(step), WV_NEW_HANDLE);
	return err;
}

/*
 * Creates the object of @create again, under the handle that the program knows. The kernel gives
 * the lowest free handle, so lower ones may have to be occupied first.
 */
static int remake(int ufile, struct wv_lease *lease, struct wv_step *create)
{
	uint32_t plugs[MAX_PLUGS], handle = WV_NONE;
	unsigned int n = 0;
	uint32_t driver_id = lease->cmdlog->driver_id;
	int err = destroy(ufile, driver_id, create, create->new_handle);

	while (!err && handle != create->new_handle && n < MAX_PLUGS) {
		err = again(ufile, lease, create, &handle);
		if (!err && handle != create->new_handle)
			plugs[n++] = handle;
	}
	while (n)
		destroy(ufile, driver_id, create, plugs[--n]);
	return err || handle == create->new_handle ? err : ENFILE;
}

/* A queue pair of a lease that is put back. */
struct leased_qp {
	int ufile;
	struct wv_lease *lease;
	uint32_t handle;
	const struct wv_receives *receives;
	const struct wv_ring *ring;
	void *saved; /* receives, until the QP is in INIT again */
};

static void save_receives(struct leased_qp *qp)
{
	if (qp->ring)
		qp->receives = wv_provider_receives(qp->lease->cmdlog->driver_id);
	if (qp->receives && qp->receives->save(qp->ring, &qp->saved))
		qp->saved = NULL; /* the program has made the ring what no driver understands */
}

static void restore_receives(struct leased_qp *qp)
{
	if (qp->receives)
		qp->receives->restore(qp->ring, qp->saved);
	qp->saved = NULL;
}

/* Moves the QP to RESET, or creates it again. */
static int take_to_reset(struct leased_qp *qp)
{
	const struct wv_ahead_row *ahead = wv_cmdlog_ahead(qp->lease->cmdlog, qp->handle);
	struct wv_step *create = wv_lease_creator(qp->lease, qp->handle);

	if (ahead && !ahead->can_be_reset && create)
		return remake(qp->ufile, qp->lease, create);
	save_receives(qp);
	return reset(qp->ufile, qp->lease->cmdlog->driver_id, qp->handle);
}

/* Repeats the program's own moves, until one fails. Sets *@moved if one was made. */
static int repeat_moves(struct leased_qp *qp, bool *moved)
{
	int err = 0;

	wv_each_step (qp->lease->cmdlog, step) {
		if (err || step->class_ != WV_MODIFY || step->state != WV_TAKEN ||
		    step->target != qp->handle)
			continue;
		err = again(qp->ufile, qp->lease, step, NULL);
		restore_receives(qp);
		*moved = *moved || !err;
	}
	return err;
}

bool wv_rollback_moves(int ufile, struct wv_lease *lease, uint32_t qp_handle,
		       const struct wv_ring *ring)
{
	struct leased_qp qp = {.ufile = ufile, .lease = lease, .handle = qp_handle, .ring = ring};
	uint64_t start = wv_trace_now();
	bool moved = false;
	int err = take_to_reset(&qp);

	if (!err)
		err = repeat_moves(&qp, &moved);
	restore_receives(&qp); /* if there was no move */
	wv_trace_rollback(start, WV_TRACE_ROLLBACK, UVERBS_OBJECT_QP, err);
	return !moved;
}
