/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/lease_requests.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/ipc/ahead.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/claims.h"
#include "daemon/pool/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/*
 * The device that the program has proven its right to, or NULL. The program opened the node itself,
 * for reading and writing, so the kernel has checked it as it does without warmverbs. A descriptor
 * opened with O_PATH proves nothing.
 */
static const struct wv_device *proven_device(struct wv_service *s, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct statx st;

	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) != O_RDWR)
		return NULL;
	/* What the kernel knows already: a file system in user space must not be asked. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) ||
	    !S_ISCHR(st.stx_mode))
		return NULL;
	return wv_devices_by_rdev(s->devices, makedev(st.stx_rdev_major, st.stx_rdev_minor));
}

static void remember_device(struct wv_client *c, const struct wv_device *device)
{
	c->key.driver_id = device->driver_id;
	strcpy(c->key.ibdev, device->ibdev);
}

/*
 * Answers that there is no lease. A client that may use @device, which is NULL otherwise, gets the
 * device's constant answers along with it.
 */
static enum wv_client_next refuse(struct wv_client *c, enum wv_no_lease reason,
				  const struct wv_device *device)
{
	struct wv_msg_no_lease answer = {.reason = reason, .flags = c->service->answer_flags};
	struct wv_cmdlog *constants =
	    device ? wv_constants_of(c->service->constants, device->rdev, c->user->tenant) : NULL;
	size_t bytes = constants ? constants->bytes : 0;

	const struct wv_answer_parts parts = {
	    .head = &answer, .head_bytes = sizeof(answer), .tail = constants, .tail_bytes = bytes};

	wv_msg_init(&answer.msg, WV_MSG_NO_LEASE, sizeof(answer) + bytes);
	if (wv_client_answer(c, &parts) || reason != WV_NO_LEASE_RECORD)
		return WV_CLIENT_CLOSE;
	c->state = WV_CLIENT_RECORDING;
	return WV_CLIENT_KEEP;
}

static int send_uncharged(struct wv_client *c, struct wv_recipe *recipe,
			  const struct wv_pooled_lease *lease)
{
	struct wv_msg_lease head = {
	    .recipe = recipe->id,
	    .rdev = lease->rdev,
	    .provider = recipe->provider,
	    .n_fds = lease->cmdlog->n_fds,
	    .flags = c->service->answer_flags,
	    .pair = lease->pair,
	};

	const struct wv_answer_parts parts = {
	    .head = &head,
	    .head_bytes = sizeof(head),
	    .tail = lease->cmdlog,
	    .tail_bytes = lease->cmdlog->bytes,
	    .fds = lease->fds.all,
	    .n_fds = lease->fds.n,
	};

	if (wv_pairs_wants_report(c->service->pairs, recipe, lease))
		head.flags |= WV_ANSWER_CONNECTED;
	wv_msg_init(&head.msg, WV_MSG_LEASE, sizeof(head) + lease->cmdlog->bytes);
	return wv_client_answer(c, &parts);
}

/* 0; -EDQUOT if it would be too much for the client's tenant; or -errno. */
static int send_lease(struct wv_client *c, struct wv_recipe *recipe,
		      const struct wv_pooled_lease *lease)
{
	struct wv_charge charge;
	int err = wv_handed_out_charge(c->service->handed_out, c->tenant, c->fd, &lease->cost,
				       wv_pooled_lease_memory(lease), &charge);

	if (err)
		return err;
	err = send_uncharged(c, recipe, lease);
	if (err)
		wv_handed_out_refund(&charge);
	else
		c->holder = wv_holder_of_connection(charge.holder);
	return err;
}

/* Takes a lease of @device; leases of another device that had its name before are closed. */
static struct wv_pooled_lease *take_lease(struct wv_pool *pool, const struct wv_device *device,
					  struct wv_builders *builders)
{
	struct wv_pooled_lease *lease;

	while ((lease = wv_pool_take(pool)) && lease->rdev != device->rdev)
		wv_builders_close(builders, lease);
	return lease;
}

/* If the program has ended, these are the last copies, and closing them destroys objects. */
static void give_up_copies(const struct wv_client *c, struct wv_pooled_lease *lease)
{
	struct wv_fds *fds = &lease->fds;

	while (fds->n)
		wv_closer_give(c->service->closer, c->tenant, fds->all[--fds->n]);
	wv_pooled_lease_free(lease);
}

/* @lease could not be handed over. */
static void put_back(struct wv_client *c, struct wv_recipe *recipe, struct wv_pooled_lease *lease)
{
	if (lease->pair.pair)
		wv_pairs_return(c->service->pairs, lease);
	else
		wv_pool_put(recipe->pool, lease);
}

/*
 * Hands @lease over. From then on the program alone holds its descriptors: the daemon's copies are
 * closed at once, since the kernel keeps all objects until the last copy is closed.
 */
static enum wv_client_next hand_out(struct wv_client *c, struct wv_recipe *recipe,
				    struct wv_pooled_lease *lease)
{
	int err = send_lease(c, recipe, lease);

	if (err == -EDQUOT) {
		put_back(c, recipe, lease);
		c->service->tally.over_limit++;
		return refuse(c, WV_NO_LEASE_DENIED, NULL);
	}
	if (err) {
		wv_log(WV_INFO, "%s: a lease could not be handed over: %s", recipe->comm,
		       strerror(-err));
		put_back(c, recipe, lease);
		return WV_CLIENT_CLOSE;
	}
	if (lease->pair.pair)
		wv_pairs_handed_out(c->service->pairs, lease, c->fd, &c->pair);
	give_up_copies(c, lease);
	recipe->counters.hits++;
	c->service->totals.hits++;
	c->recipe = recipe->id;
	c->since_us = wv_now(c->service->event);
	c->state = WV_CLIENT_LEASED;
	return WV_CLIENT_KEEP;
}

static enum wv_client_next serve(struct wv_client *c, struct wv_recipe *recipe,
				 const struct wv_device *device)
{
	struct wv_service *s = c->service;
	struct wv_pooled_lease *lease = NULL;
	int64_t now_us = wv_now(s->event);

	if (recipe->pool) {
		wv_pool_claim(recipe->pool, now_us, now_us, wv_idle_us(s->planner));
		lease = wv_pairs_claim(s->pairs, recipe, device->rdev)
			    ?: take_lease(recipe->pool, device, s->builders);
	}
	wv_catalog_touch(s->catalog, recipe, wv_wall_clock());
	if (lease)
		return hand_out(c, recipe, lease);
	recipe->counters.misses++;
	s->totals.misses++;
	return refuse(c, WV_NO_LEASE_EMPTY, device);
}

enum wv_client_next wv_handle_request(struct wv_client *c, const struct wv_received *in)
{
	struct wv_service *s = c->service;
	const struct wv_msg_request *request = (const void *)in->msg;
	const struct wv_device *device = proven_device(s, in->fds[0]);
	struct wv_recipe *recipe = NULL;

	if (!device) {
		s->tally.denied++;
		return refuse(c, WV_NO_LEASE_DENIED, NULL);
	}
	if (!device->leasable)
		return refuse(c, WV_NO_LEASE_UNFIT, NULL);
	wv_client_remember(c, request);
	remember_device(c, device);
	if (request->flags & WV_REQUEST_UNFIT) {
		wv_catalog_refuse(s->catalog, c->user->uid, &c->key,
				  "it needs capabilities that a lease does not give");
		return WV_CLIENT_CLOSE;
	}
	wv_scheduler_poke(s->scheduler, c->user->tenant);
	switch (wv_catalog_choose(s->catalog, c->user->uid, &c->key, c->argv, &recipe)) {
	case WV_CHOICE_SERVE:
		if (wv_ahead_puts_off(recipe, c->flags))
			return refuse(c, WV_NO_LEASE_LATER, NULL);
		return serve(c, recipe, device);
	case WV_CHOICE_RECORD:
		return refuse(c, WV_NO_LEASE_RECORD, device);
	default:
		return refuse(c, WV_NO_LEASE_UNFIT, device);
	}
}
