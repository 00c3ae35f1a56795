/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/connections.h"

#include "abi/qp.h"
#include "cmdlog/qp_steps.h"
#include "cmdlog/record.h"
#include "cmdlog/validate.h"
#include "preload/client/daemon_connection.h"
#include "preload/pairs/paired.h"

#include <stdlib.h>

/* How the program connects a queue pair. Kept for the next context in the same place. */
struct wv_connecting {
	uint32_t untold; /* connections of which the daemon is still to be told */
	uint32_t qp;	 /* whose moves are in the message; WV_NONE: nobody's */
	struct wv_cmdlog_writer moves;
	struct {
		struct wv_msg_connected head;
		uint8_t moves[WV_MOVES_MAX_BYTES];
	} message;
};

void wv_connections_begin(struct wv_context *c, uint32_t flags)
{
	bool wanted = flags & WV_ANSWER_CONNECTED;

	if ((wanted || c->pair.id) && !c->connecting)
		c->connecting = malloc(sizeof(*c->connecting));
	if (!c->connecting)
		return;
	c->connecting->untold = wanted ? WV_PAIR_TOLD : 0;
	c->connecting->qp = WV_NONE;
}

bool wv_connections_are_awaited(const struct wv_context *c)
{
	return c->connecting && (c->connecting->untold || c->pair.id);
}

/*
 * The step that created the RC queue pair @handle; NULL: none of the lease. A pair would bring
 * messages into receives that other queue pairs share, before the program has connected this one.
 */
static struct wv_step *creator(struct wv_context *c, uint32_t handle)
{
	struct wv_step *create = wv_lease_creator(&c->lease, handle);
	const struct wv_ahead_row *ahead = create ? wv_step_ahead(c->lease.cmdlog, create) : NULL;

	return ahead && ahead->qp_type == IB_UVERBS_QPT_RC &&
		       !wv_step_attr(create, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)
		   ? create
		   : NULL;
}

static void begin_moves(struct wv_context *c)
{
	wv_cmdlog_begin(&c->connecting->moves, c->connecting->message.moves,
			sizeof(c->connecting->message.moves), WV_RECORD,
			c->lease.cmdlog->driver_id);
}

static void tell(struct wv_context *c, uint32_t handle, uint16_t why)
{
	struct wv_msg_connected *message = &c->connecting->message.head;
	struct wv_step *create = creator(c, handle);
	uint32_t index = 0;

	c->connecting->qp = WV_NONE;
	if (!create || wv_paired_sock(c) < 0)
		return;
	wv_each_step (c->lease.cmdlog, step)
		index += step < create;
	*message = (struct wv_msg_connected){
	    .create = index, .qp_num = wv_step_qp_num(create), .why = why};
	wv_client_send_connected(wv_paired_sock(c), message);
	if (c->connecting->untold)
		c->connecting->untold--;
}

/* A step that is not known in full makes the moves useless. */
static void add_move(struct wv_context *c, const struct wv_passage *p)
{
	if (wv_record_command(&c->connecting->moves, p->cmd, p->row, NULL))
		c->connecting->qp = WV_NONE;
	else
		wv_record_answer(&c->connecting->moves, p->cmd, p->row, 0);
}

void wv_connections_note(const struct wv_passage *p)
{
	struct wv_context *c = p->context;
	const struct wv_pair_progress *at = &c->qps->progress;
	bool is_end = c->pair.id && p->target == c->pair.qp;

	/* How the program connects the end of a pair after the first time changes nothing. */
	if (is_end ? p->state >= 0 && at->told && !at->gone : !c->connecting->untold)
		return;
	if (p->state == IBV_QPS_RTR && creator(c, p->target)) {
		begin_moves(c);
		c->connecting->qp = p->target;
		add_move(c, p);
	} else if (p->state == IBV_QPS_RTS && (is_end || p->target == c->connecting->qp)) {
		if (p->target == c->connecting->qp)
			add_move(c, p);
		if (p->target != c->connecting->qp)
			begin_moves(c);
		tell(c, p->target, is_end ? at->why : 0);
	} else if (p->row->class_ == WV_DESTROY && is_end) {
		begin_moves(c);
		/* It may soon be another one's number. The server's word of its use may be late. */
		tell(c, p->target, at->told ? WV_PAIR_NO_REASON : WV_PAIR_ENDED);
	}
}
