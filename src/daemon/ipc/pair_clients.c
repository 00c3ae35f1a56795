/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/pair_clients.h"

#include "cmdlog/validate.h"
#include "daemon/pairs/claims.h"
#include "daemon/pairs/edges.h"
#include "daemon/pairs/keepers.h"

enum wv_client_next wv_handle_connected(struct wv_client *c, const struct wv_received *in)
{
	const struct wv_msg_connected *msg = (const void *)in->msg;
	struct wv_cmdlog *moves = (struct wv_cmdlog *)(msg + 1);
	size_t bytes = in->msg->bytes - sizeof(*msg);
	struct wv_edge_report report = {
	    .recipe = c->recipe,
	    .uid = c->user->uid,
	    .create = msg->create,
	    .qp_num = msg->qp_num,
	};
	const char *why;

	if (!c->service->pairs || c->n_connected++ == WV_PAIR_TOLD + WV_PAIR_TOLD_MORE ||
	    msg->why >= WV_PAIR_WHYS || wv_cmdlog_check(moves, bytes, WV_RECORD))
		return WV_CLIENT_MALFORMED;
	wv_pairs_differ(c->service->pairs, c->pair, msg->create, msg->why);
	if (!wv_validate_moves(moves, &why))
		wv_pairs_report(c->service->pairs, c->key.ibdev, &report, moves);
	return WV_CLIENT_KEEP;
}

static enum wv_client_next add_keeper(struct wv_client *c)
{
	c->keeper = wv_keeper_add(c->service->pairs, c->fd, c->user->uid, c->tenant);
	if (!c->keeper) {
		c->service->tally.over_limit++;
		return WV_CLIENT_CLOSE;
	}
	c->state = WV_CLIENT_KEEPER;
	return WV_CLIENT_KEEP;
}

enum wv_client_next wv_handle_stays(struct wv_client *c, const struct wv_received *in)
{
	const struct wv_msg_pair *msg = (const void *)in->msg;

	c->stays = msg->note.word == WV_PAIR_STAYS;
	return c->stays ? WV_CLIENT_KEEP : WV_CLIENT_MALFORMED;
}

enum wv_client_next wv_handle_keeper(struct wv_client *c, const struct wv_received *in)
{
	const struct wv_msg_pair *msg = (const void *)in->msg;
	struct wv_pairs *pairs = c->service->pairs;

	if (!pairs)
		return WV_CLIENT_MALFORMED;
	if (c->keeper && msg->note.word == WV_PAIR_STAYS)
		return wv_handle_stays(c, in);
	if (c->keeper)
		return wv_keeper_says(pairs, c->keeper, &msg->note) ? WV_CLIENT_MALFORMED
								    : WV_CLIENT_KEEP;
	return msg->note.word == WV_PAIR_KEEPER ? add_keeper(c) : WV_CLIENT_MALFORMED;
}

/*
 * Whether the process of @c goes on without its connection, since it says so, or since the daemon
 * ends the connection. Then @watch hears of the end of the process.
 */
static bool goes_on(const struct wv_client *c, struct wv_end_watch *watch)
{
	return (c->stays || c->state == WV_CLIENT_DONE) &&
	       wv_handed_out_watch(c->service->handed_out, c->tenant, c->fd, watch);
}

void wv_pair_client_end(struct wv_client *c)
{
	if (c->pair && goes_on(c, &c->pair->end))
		wv_pairs_disconnect(c->pair);
	else if (c->pair)
		wv_pairs_leave(c->service->pairs, c->pair);
	if (c->keeper && goes_on(c, &c->keeper->end))
		wv_keeper_goes_on(c->service->pairs, c->keeper);
	else if (c->keeper)
		wv_keeper_remove(c->service->pairs, c->keeper);
	c->keeper = NULL;
}
