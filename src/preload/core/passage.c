/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/passage.h"

#include "abi/qp.h"
#include "base/bits.h"
#include "cmdlog/command.h"
#include "cmdlog/qp_steps.h"
#include "preload/core/counters.h"

/* The furthest state to which a lease may move the command's QP. */
static int ahead_state(const struct wv_passage *p)
{
	struct wv_context *c = p->context;
	const struct wv_ahead_row *ahead = NULL;

	if (c->mode == WV_LEASED)
		ahead = wv_cmdlog_ahead(c->lease.cmdlog, p->target);
	else if (c->mode == WV_RECORDING)
		ahead = wv_cmdlog_ahead(c->record.cmdlog, p->target);
	return ahead ? ahead->state : IBV_QPS_INIT;
}

void wv_passage_identify(struct wv_passage *p)
{
	p->row = wv_abi_find(p->cmd->driver_id, p->cmd->object_id, p->cmd->method_id, p->write_cmd);
	p->target = p->row ? wv_command_target(p->cmd, p->row) : WV_NONE;
	p->state = p->row && p->row->class_ == WV_MODIFY ? wv_command_qp_state(p->cmd) : -1;
}

void wv_passage_look(struct wv_passage *p)
{
	wv_passage_identify(p);
	p->connects = p->state > IBV_QPS_INIT && p->state > ahead_state(p);
}

bool wv_passage_makes_ready(const struct wv_passage *p)
{
	return p->state == IBV_QPS_RTS;
}

static bool is_moved(const struct wv_context *c, uint32_t handle)
{
	return handle < WV_CMDLOG_MAX_STEPS && wv_bit(c->moved, handle);
}

/*
 * Whether a lease could have held this command. If so, a command that reaches the kernel is a
 * divergence. A lease follows a QP up to the first move that it does not have. How many PDs of its
 * own librdmacm needs depends on when connections come and go.
 */
static bool is_divergence(const struct wv_passage *p)
{
	switch (p->row->class_) {
	case WV_CREATE:
		return p->why != WV_WHY_PASS || !wv_abi_creates(p->row, UVERBS_OBJECT_PD);
	case WV_CONSTANT:
		return true;
	case WV_REGISTER:
		return p->alloc_mr;
	case WV_OPENING:
		return p->context->opening;
	case WV_MODIFY:
		return wv_abi_prepares_qps(p->cmd->driver_id) && !is_moved(p->context, p->target) &&
		       p->state >= IBV_QPS_INIT && !p->connects;
	default:
		return false;
	}
}

struct wv_difference wv_passage_why_not(const struct wv_passage *p)
{
	struct wv_context *c = p->context;
	struct wv_difference d = {.why = WV_WHY_UNKNOWN};

	if (!p->row)
		return d;
	if (p->why && p->why != WV_WHY_PASS)
		d.why = p->why;
	else if (c->mode != WV_LEASED || wv_context_is_inherited(c)) /* the lease is the parent's */
		d.why = WV_WHY_NO_LEASE;
	else if (!is_divergence(p))
		d.why = WV_WHY_PASS;
	else if (!wv_context_is_followed(c))
		d.why = WV_WHY_STOPPED;
	else
		return wv_lease_explain(&c->lease, p->cmd, p->write_cmd);
	return d;
}

static void count_divergence(const struct wv_passage *p, struct wv_difference why)
{
	struct wv_context *c = p->context;
	struct wv_msg_report *r = &c->report;

	wv_count(&wv_counters.commands_diverged);
	if (r->diverged++)
		return;
	c->unsent++;
	r->late = c->connected;
	r->driver_id = p->cmd->driver_id;
	r->object = p->cmd->object_id;
	r->method = p->cmd->method_id;
	r->write_cmd = p->write_cmd;
	r->why = why.why;
	r->attr = why.attr;
	r->offset = why.offset;
}

/* A context is never refused; if it is not that of the lease, the lease ends before the answer. */
void wv_passage_count(struct wv_passage *p, struct wv_difference why)
{
	struct wv_context *c = p->context;

	if (c->removed || (p->row && !is_divergence(p))) /* other programs do not end here */
		c->report.kernel++;
	else if (p->row && !wv_abi_creates(p->row, UVERBS_OBJECT_DEVICE))
		p->undecided = true;
	else
		count_divergence(p, why);
}

/* What the kernel refuses does nothing that a lease could have done ahead. */
void wv_passage_decide(const struct wv_passage *p, struct wv_difference why, int error)
{
	if (error)
		p->context->report.kernel++;
	else
		count_divergence(p, why);
}

static bool adopted_all_moves(const struct wv_context *c, uint32_t qp_handle)
{
	uint32_t left = c->lease.n_recipe;
	bool any = false;

	wv_each_step (c->lease.cmdlog, step) {
		if (!left--)
			break;
		if (step->class_ != WV_MODIFY || step->target != qp_handle)
			continue;
		if (step->state != WV_TAKEN)
			return false;
		any = true;
	}
	return any;
}

/* No recipe has what follows a query of a QP that was moved before. */
void wv_passage_note_move(const struct wv_passage *p)
{
	bool moved;

	if (p->target >= WV_CMDLOG_MAX_STEPS)
		return;
	moved = p->row->class_ == WV_MODIFY ||
		(p->row->class_ == WV_QUERY && adopted_all_moves(p->context, p->target));
	if (moved || p->row->class_ == WV_DESTROY)
		wv_set_bit(p->context->moved, p->target, moved);
}
