/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/connections.h"

#include "abi/qp.h"
#include "cmdlog/qp_steps.h"
#include "cmdlog/record.h"
#include "preload/client/daemon_connection.h"
#include "preload/lease/paired.h"

#include <string.h>

void wv_connections_begin(struct wv_context *c, uint32_t flags)
{
	c->untold = flags & WV_ANSWER_CONNECTED ? WV_PAIR_TOLD : 0;
}

/* The step that created the RC queue pair @handle, which is its @index'th; NULL: none of the lease.
 */
static struct wv_step *creator(struct wv_context *c, uint32_t handle, uint32_t *index)
{
	*index = 0;
	wv_each_step (c->lease.cmdlog, step) {
		const struct wv_ahead_row *ahead;

		if (step->new_handle == handle && step->state == WV_TAKEN &&
		    step->class_ == WV_CREATE) {
			ahead = wv_step_ahead(c->lease.cmdlog, step);
			return ahead && ahead->qp_type == IB_UVERBS_QPT_RC ? step : NULL;
		}
		++*index;
	}
	return NULL;
}

static void begin_moves(struct wv_context *c)
{
	wv_cmdlog_begin(&c->moves, c->connected_as.moves, sizeof(c->connected_as.moves), WV_RECORD,
			c->lease.cmdlog->driver_id);
}

static void tell(struct wv_context *c, uint32_t handle, uint16_t why)
{
	struct wv_msg_connected *message = &c->connected_as.head;
	uint32_t index;
	struct wv_step *create = creator(c, handle, &index);

	c->moving_qp = WV_NONE;
	if (!create || wv_paired_sock(c) < 0)
		return;
	*message = (struct wv_msg_connected){
	    .create = index, .qp_num = wv_step_qp_num(create), .why = why};
	wv_client_send_connected(wv_paired_sock(c), message);
	c->untold--;
}

/* A step that is not known in full makes the moves useless. */
static void add_move(struct wv_context *c, const struct wv_passage *p)
{
	if (wv_record_command(&c->moves, p->cmd, p->row, NULL))
		c->moving_qp = WV_NONE;
	else
		wv_record_answer(&c->moves, p->cmd, p->row, 0);
}

void wv_connections_note(const struct wv_passage *p)
{
	struct wv_context *c = p->context;
	bool is_end = c->pair.pair && p->target == c->pair_qp;
	uint32_t index;

	if (p->state == IBV_QPS_RTR && creator(c, p->target, &index)) {
		begin_moves(c);
		c->moving_qp = p->target;
		add_move(c, p);
	} else if (p->state == IBV_QPS_RTS && (is_end || p->target == c->moving_qp)) {
		if (p->target == c->moving_qp)
			add_move(c, p);
		if (p->target != c->moving_qp)
			begin_moves(c);
		tell(c, p->target, is_end ? wv_paired_why(c) : 0);
	}
}
