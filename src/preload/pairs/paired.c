/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/paired.h"

#include "abi/compose.h"
#include "abi/qp.h"
#include "base/own_fd.h"
#include "cmdlog/command.h"
#include "cmdlog/qp_steps.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/scope.h"
#include "preload/pairs/partner.h"
#include "preload/providers.h"
#include "wire/pair.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PSN_MASK 0xffffffu
#define MOVES	 2u /* to RTR and RTS */

static bool is_move(struct wv_step *step, uint32_t handle, enum ibv_qp_state to)
{
	return step->class_ == WV_MODIFY && step->target == handle && !step->error &&
	       wv_step_qp_state(step) == (int)to;
}

static struct wv_qp_peer named_by(struct wv_step *rtr)
{
	struct wv_attr *in = wv_step_attr(rtr, UVERBS_ATTR_CORE_IN);

	return wv_qp_named(wv_attr_bytes(rtr, in), in->len);
}

static bool leads_to(struct wv_step *rtr, const struct wv_lease_pair *pair)
{
	struct wv_qp_peer peer = wv_pair_peer(pair), named = named_by(rtr);

	return wv_qp_peer_is(&peer, &named);
}

bool wv_paired_fits(struct wv_cmdlog *lease, const struct wv_lease_pair *pair)
{
	const struct wv_ahead_row *ahead;
	struct wv_step *create, *rtr;

	if (!pair->pair)
		return true;
	if (lease->n_steps < MOVES || pair->create >= lease->n_steps - MOVES)
		return false;
	create = wv_cmdlog_nth(lease, pair->create);
	rtr = wv_cmdlog_nth(lease, lease->n_steps - MOVES);
	ahead = wv_step_ahead(lease, create);
	return ahead && ahead->qp_type == IB_UVERBS_QPT_RC && create->new_handle != WV_NONE &&
	       is_move(rtr, create->new_handle, IBV_QPS_RTR) && leads_to(rtr, pair) &&
	       is_move(wv_step_next(rtr), create->new_handle, IBV_QPS_RTS);
}

/* The program still has the pair, which ends with the connection otherwise. */
static void closed(struct wv_context *c, int sock)
{
	struct wv_msg_pair message = {.note = {.word = WV_PAIR_STAYS}};

	if (wv_context_is_inherited(c) || wv_socket_cookie(sock) != c->pair.cookie)
		return;
	wv_msg_init(&message.msg, WV_MSG_PAIR, sizeof(message));
	wv_send(sock, &message, sizeof(message), NULL, 0, NULL, 0);
}

void wv_paired_begin(struct wv_context *c, const struct wv_lease_pair *pair, int sock)
{
	struct wv_qp_peer named =
	    named_by(wv_cmdlog_nth(c->lease.cmdlog, c->lease.cmdlog->n_steps - MOVES));

	c->lease.n_recipe -= MOVES;
	c->pair.id = pair->pair;
	c->pair.peer = wv_pair_peer(pair);
	c->pair.peer.port = named.port;
	c->pair.peer.sgid_index = named.sgid_index;
	c->pair.came = true;
	c->pair.cookie = wv_socket_cookie(sock);
	c->pair.closed = closed;
	c->pair.qp = wv_cmdlog_nth(c->lease.cmdlog, pair->create)->new_handle;
	c->qps->progress = (struct wv_pair_progress){.stage = WV_PAIR_APART};
	c->pair.ring = (struct wv_ring){.bytes = 0};
}

int wv_paired_sock(const struct wv_context *c)
{
	return c->sock >= 0 ? c->sock : c->pair.sock;
}

/*
 * Whether the peer is no part of the pair any more. If the daemon has ended, or the program has
 * closed the connection, nobody tells the peer either, and it keeps its end: the pair is what both
 * still agree on. read(), since almost every sandbox allows it.
 */
static bool is_gone(struct wv_context *c)
{
	struct wv_msg_pair_gone message = {.pair = 0};
	struct wv_pair_progress *p = &c->qps->progress;
	int sock = wv_paired_sock(c);

	if (!p->gone)
		p->gone = sock >= 0 && read(sock, &message, sizeof(message)) > 0 &&
			  message.pair == c->pair.id;
	return p->gone;
}

/*
 * Whether data has arrived that the kernel has acknowledged, so that it would be lost in RESET.
 * What arrives after this question and before RESET is lost; a peer whose program has just been
 * given its end can hardly have sent by then.
 */
static bool has_received(const struct wv_passage *p)
{
	const struct wv_context *c = p->context;
	struct wv_small_command query;

	wv_compose_query(&query, p->cmd->driver_id, c->pair.qp);
	return ioctl(p->fd, RDMA_VERBS_IOCTL, &query.hdr) ||
	       (query.queried.rq_psn ^ c->pair.peer.peer_psn) & PSN_MASK;
}

static struct wv_step *from_lease(const struct wv_passage *p)
{
	struct wv_context *c = p->context;

	return wv_context_is_followed(c) ? wv_lease_claim(&c->lease, p->cmd, p->write_cmd) : NULL;
}

/* The state in which the program knows the queue pair. */
static int known_state(struct wv_context *c)
{
	int state = IBV_QPS_RESET;

	wv_each_step (c->lease.cmdlog, step)
		if (step->state == WV_TAKEN && step->class_ == WV_MODIFY &&
		    step->target == c->pair.qp)
			state = wv_step_qp_state(step);
	return state;
}

/*
 * If data has arrived, the queue pair stays as it is, and the program's move to @state counts as
 * made.
 */
static struct wv_step *leave_connected(const struct wv_passage *p, enum ibv_qp_state state)
{
	struct wv_lease *lease = &p->context->lease;
	struct wv_step *step = wv_lease_move_to(lease, p->target, state);

	if (!step || known_state(p->context) != (int)state - 1 || !has_received(p))
		return NULL;
	wv_answer_empty(p->cmd, p->row);
	wv_lease_take(lease, step);
	return step;
}

/* The kernel is to execute the move, since it is not that of the pair. */
static void differ(struct wv_passage *p, enum wv_pair_why why, enum wv_pair_stage stage)
{
	p->context->qps->progress.why = why;
	p->context->qps->progress.stage = (uint8_t)stage;
	p->why = wv_pair_why_not(why);
	p->meets = stage == WV_PAIR_MET;
}

static enum wv_pair_why decide(const struct wv_passage *p)
{
	const struct ib_uverbs_attr *in = wv_command_attr(p->cmd, UVERBS_ATTR_CORE_IN);
	const struct wv_qp_peer *peer = &p->context->pair.peer;
	struct wv_qp_peer named = wv_qp_named(wv_attr_input(in), in->len);
	/* The connected queue pair keeps its GID at this index. */
	bool from_here = named.port == peer->port && named.sgid_index == peer->sgid_index;

	return wv_pair_decide(peer, is_gone(p->context), &named, from_here);
}

static struct wv_step *to_rtr(struct wv_passage *p)
{
	enum wv_pair_why why = decide(p);
	struct wv_step *step = why ? NULL : from_lease(p);

	if (!step && why != WV_PAIR_OTHER_PEER)
		step = leave_connected(p, IBV_QPS_RTR);
	if (step)
		p->context->qps->progress.stage = WV_PAIR_MET;
	else
		differ(p, why ?: WV_PAIR_ATTRIBUTES, why ? WV_PAIR_OVER : WV_PAIR_MET);
	return step;
}

static struct wv_step *to_rts(struct wv_passage *p)
{
	struct wv_context *c = p->context;
	struct wv_step *step = from_lease(p);

	if (c->qps->progress.stage != WV_PAIR_MET)
		return step;
	if (!step)
		step = leave_connected(p, IBV_QPS_RTS);
	if (!step) {
		differ(p, WV_PAIR_ATTRIBUTES, WV_PAIR_MET);
		return NULL;
	}
	p->used = true;
	return step;
}

/* Any other move. Before the program has connected, the peer stays the same whatever it does. */
static struct wv_step *to_elsewhere(const struct wv_passage *p)
{
	struct wv_pair_progress *at = &p->context->qps->progress;
	struct wv_step *step = from_lease(p);

	if (!step && at->stage == WV_PAIR_MET && p->state == IBV_QPS_RESET)
		at->stage = WV_PAIR_APART; /* the peer's end stays as it is */
	return step;
}

/* A program that went its own way may come back: the peer keeps its end for that. */
static struct wv_step *move(struct wv_passage *p)
{
	if (p->state == IBV_QPS_RTR)
		return to_rtr(p);
	if (p->context->qps->progress.stage == WV_PAIR_OVER)
		return from_lease(p);
	return p->state == IBV_QPS_RTS ? to_rts(p) : to_elsewhere(p);
}

/* The queue pair is put back for it, or, if that would lose data, the answer is made to fit. */
static struct wv_step *query(struct wv_passage *p)
{
	struct wv_context *c = p->context;
	struct wv_step *step = from_lease(p);

	if (step || !wv_lease_move_to(&c->lease, p->target, IBV_QPS_RTS) || !has_received(p))
		return step;
	p->hides = true;
	p->shown = (uint8_t)known_state(c);
	return NULL;
}

/* Learns where the provider will map the receives that RESET drops. */
static struct wv_step *create(const struct wv_passage *p)
{
	struct wv_context *c = p->context;
	struct wv_step *step = from_lease(p);

	if (step && step->new_handle == c->pair.qp && !step->error) {
		wv_provider_find_ring(p->cmd, &c->pair.ring);
		wv_scope.ring = c->pair.ring.bytes ? &c->pair.ring : NULL;
	}
	return step;
}

static struct wv_step *claim(struct wv_passage *p)
{
	if (p->row && wv_abi_creates(p->row, UVERBS_OBJECT_QP))
		return create(p);
	if (!p->row || p->target != p->context->pair.qp)
		return from_lease(p);
	switch (p->row->class_) {
	case WV_MODIFY:
		return move(p);
	case WV_QUERY:
		return query(p);
	default:
		return from_lease(p);
	}
}

struct wv_step *wv_paired_claim(struct wv_passage *p)
{
	struct wv_step *step;
	int saved = errno;

	wv_passage_identify(p);
	step = claim(p);
	errno = saved;
	return step;
}

int wv_paired_issue(const struct wv_passage *p)
{
	_Alignas(8) uint8_t in[sizeof(struct ib_uverbs_ex_modify_qp)];
	struct wv_command copy;
	struct ib_uverbs_attr *attr;
	int result;

	if (!wv_command_copy(&copy, p->cmd))
		return ioctl(p->fd, RDMA_VERBS_IOCTL, p->cmd);
	attr = wv_command_attr(&copy.hdr, UVERBS_ATTR_CORE_IN);
	if (attr->len <= sizeof(in)) {
		memcpy(in, wv_attr_input(attr), attr->len);
		wv_qp_set_psns(in, &p->context->pair.peer);
		attr->data = (uintptr_t)in;
	}
	result = ioctl(p->fd, RDMA_VERBS_IOCTL, &copy.hdr);
	for (unsigned int i = 0; i < copy.hdr.num_attrs; i++)
		p->cmd->attrs[i].flags = copy.attrs[i].flags;
	return result;
}

void wv_paired_after_kernel(const struct wv_passage *p, bool failed)
{
	struct wv_context *c = p->context;
	struct wv_pair_progress *at = &c->qps->progress;

	if (p->hides && !failed)
		wv_qp_hide_moves(p->cmd, p->shown);
	if (failed && p->state == IBV_QPS_RTR)
		at->stage = WV_PAIR_APART;
	if (failed)
		return;
	if (p->row->class_ == WV_DESTROY ||
	    (p->state == IBV_QPS_RTS && at->gone && at->stage == WV_PAIR_OVER))
		c->pair.id = 0;
	else if (p->state == IBV_QPS_RTS)
		at->told = true;
}
