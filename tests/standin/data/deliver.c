/* SPDX-License-Identifier: BSD-2-Clause */
#include "deliver.h"

#include "cq.h"
#include "recv.h"
#include "route.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

#define GRH_BYTES   40
#define PSN_MASK    0xffffff
#define GRH_VERSION 6
#define GRH_IBA	    0x1b /* next header: a base transport header */

static const struct answer done = {ANSWER_DONE}, none = {ANSWER_NONE}, local = {ANSWER_LOCAL};

/*
 * The process of this memory has ended. On a real node its queue pair goes away before its memory
 * does; here it goes a moment later, and answers nothing until then.
 */
static bool has_ended(const struct pieces *pieces)
{
	uint8_t byte;

	return pieces->n &&
	       hca_mem_read(pieces->at[0].mem, pieces->at[0].offset, &byte, 1) == -ESRCH;
}

static struct answer refuse(uint8_t syndrome)
{
	return (struct answer){.kind = ANSWER_ERROR, .syndrome = syndrome};
}

void deliver_last(struct hca_qp *qp)
{
	if (qp->srq && (qp->type == HCA_RC || qp->type == HCA_UC || qp->type == HCA_UD))
		hca_qp_async(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

void deliver_error(struct hca_qp *qp)
{
	if (qp->state == IBV_QPS_ERR)
		return;
	hca_qp_error(qp);
	/* It takes no more elements of the SRQ: programs wait for this event. */
	if (qp->srq)
		hca_qp_async(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

/* A DC target serves many initiators: an error ends the connection of one of them only. */
static void responder_error(struct hca_qp *qp)
{
	if (qp->type != HCA_DCT)
		deliver_error(qp);
}

/* Completes a receive that was used up. */
static struct answer complete(struct hca_qp *peer, const struct message *msg,
			      const struct recv_wqe *wqe, uint8_t kind, uint64_t bytes)
{
	bool immediate = kind != MLX5_CQE_RESP_SEND;
	struct completion completion = {
	    .kind = kind,
	    .solicited = msg->wqe->solicited,
	    .grh = peer->type == HCA_UD,
	    .counter = wqe->index,
	    .qpn = peer->qpn,
	    .uidx = peer->uidx,
	    .src_qpn = peer->type == HCA_UD ? msg->from->qpn : 0,
	    .byte_cnt = bytes,
	    .imm = immediate ? msg->wqe->imm : 0,
	};

	recv_consume(peer, wqe);
	if (cq_post(peer->recv_cq, &completion)) {
		responder_error(peer);
		return refuse(MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
	}
	return done;
}

/* Completes a receive that could not take the message. @answer goes to the sender. */
static struct answer fail_receive(struct hca_qp *peer, const struct recv_wqe *wqe, uint8_t syndrome,
				  uint8_t answer)
{
	struct completion completion = {
	    .kind = MLX5_CQE_RESP_ERR,
	    .syndrome = syndrome,
	    .counter = wqe->index,
	    .qpn = peer->qpn,
	    .uidx = peer->uidx,
	};

	recv_consume(peer, wqe);
	cq_post(peer->recv_cq, &completion);
	responder_error(peer);
	return refuse(answer);
}

/* Finds the receive to use up, or the answer if there is none. */
static struct answer next_receive(struct hca_qp *peer, struct recv_wqe *wqe)
{
	switch (recv_peek(peer, wqe)) {
	case 0:
		return done;
	case -EAGAIN:
		return (struct answer){ANSWER_NOT_READY, .min_rnr_timer = peer->attr.min_rnr_timer};
	case -ESRCH:
		return none;
	default:
		responder_error(peer);
		return refuse(MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
	}
}

/* The global route that is put in front of a datagram. */
static void make_grh(uint8_t grh[GRH_BYTES], const struct message *msg)
{
	const struct send_wqe *wqe = msg->wqe;
	uint32_t first = htonl((uint32_t)GRH_VERSION << 28 | (uint32_t)wqe->to.tclass << 20 |
			       wqe->to.flow_label);
	uint16_t payload = htons(wqe->length);

	memset(grh, 0, GRH_BYTES);
	memcpy(grh, &first, sizeof first);
	memcpy(grh + 4, &payload, sizeof payload);
	grh[6] = GRH_IBA;
	grh[7] = wqe->to.hop_limit;
	memcpy(grh + 8, hca_gid_at(msg->hca, wqe->to.sgid_index)->raw, 16);
	memcpy(grh + 24, wqe->to.dgid, sizeof wqe->to.dgid);
}

static struct answer move_to_receive(struct hca *hca, struct hca_qp *peer,
				     const struct message *msg, const struct recv_wqe *wqe,
				     const struct pieces *from)
{
	struct pieces to = {0};

	if (from->length > wqe->length)
		return fail_receive(peer, wqe, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
				    MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	if (pieces_add_sges(&to, hca, recv_pd(peer), wqe->sge, wqe->num_sge, from->length,
			    IBV_ACCESS_LOCAL_WRITE))
		return fail_receive(peer, wqe, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
				    MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
	switch (pieces_copy(&to, from)) {
	case COPIED:
		return complete(peer, msg, wqe,
				msg->wqe->opcode == MLX5_OPCODE_SEND ? MLX5_CQE_RESP_SEND
								     : MLX5_CQE_RESP_SEND_IMM,
				from->length);
	case COPY_TO_FAILED:
		if (has_ended(&to))
			return none;
		return fail_receive(peer, wqe, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
				    MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
	case COPY_FROM_FAILED:
		break;
	}
	return local;
}

static struct answer deliver_send(struct hca *hca, struct hca_qp *peer, const struct message *msg)
{
	struct recv_wqe wqe;
	struct answer answer = next_receive(peer, &wqe);
	struct pieces from = {0};
	uint8_t grh[GRH_BYTES];

	if (answer.kind != ANSWER_DONE)
		return answer;
	if (peer->type != HCA_UD)
		return move_to_receive(hca, peer, msg, &wqe, &msg->local);
	make_grh(grh, msg);
	pieces_add_bytes(&from, grh, sizeof grh);
	memcpy(from.at + from.n, msg->local.at, msg->local.n * sizeof *from.at);
	from.n += msg->local.n;
	from.length += msg->local.length;
	return move_to_receive(hca, peer, msg, &wqe, &from);
}

/* Checks which operations the peer allows, and on which memory. */
static int find_remote(struct hca *hca, struct hca_qp *peer, const struct message *msg,
		       uint32_t access, struct pieces *remote)
{
	if (!(peer->attr.access & access))
		return -EACCES;
	return pieces_add_range(remote, hca, peer->pd, msg->wqe->rkey, msg->wqe->raddr,
				msg->local.length, access);
}

static struct answer refuse_access(struct hca_qp *peer, const struct pieces *remote)
{
	if (has_ended(remote))
		return none;
	if (peer->type == HCA_RC) {
		deliver_error(peer);
		hca_qp_async(peer, IBV_EVENT_QP_ACCESS_ERR);
	}
	return refuse(MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
}

static struct answer deliver_write(struct hca *hca, struct hca_qp *peer, const struct message *msg)
{
	bool immediate = msg->wqe->opcode == MLX5_OPCODE_RDMA_WRITE_IMM;
	struct pieces remote = {0};
	struct recv_wqe wqe;
	struct answer answer = immediate ? next_receive(peer, &wqe) : done;

	if (answer.kind != ANSWER_DONE)
		return answer;
	if (find_remote(hca, peer, msg, IBV_ACCESS_REMOTE_WRITE, &remote))
		return refuse_access(peer, &remote);
	switch (pieces_copy(&remote, &msg->local)) {
	case COPIED:
		break;
	case COPY_TO_FAILED:
		return refuse_access(peer, &remote);
	case COPY_FROM_FAILED:
		return local;
	}
	return immediate ? complete(peer, msg, &wqe, MLX5_CQE_RESP_WR_IMM, msg->local.length)
			 : done;
}

static struct answer deliver_read(struct hca *hca, struct hca_qp *peer, const struct message *msg)
{
	struct pieces remote = {0};

	if (find_remote(hca, peer, msg, IBV_ACCESS_REMOTE_READ, &remote))
		return refuse_access(peer, &remote);
	if (!route_hears(msg->from, peer))
		return done;
	switch (pieces_copy(&msg->local, &remote)) {
	case COPIED:
		return done;
	case COPY_FROM_FAILED:
		return refuse_access(peer, &remote);
	case COPY_TO_FAILED:
		break;
	}
	return local;
}

/* Words in the byte order of the machine, as the adapter says by IBV_ATOMIC_HCA. */
static struct answer deliver_atomic(struct hca *hca, struct hca_qp *peer, const struct message *msg)
{
	const struct send_wqe *wqe = msg->wqe;
	struct pieces remote = {0}, before = {0};
	uint64_t was, is;

	if (msg->local.length != sizeof was || wqe->raddr % sizeof was)
		return refuse(MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	if (find_remote(hca, peer, msg, IBV_ACCESS_REMOTE_ATOMIC, &remote) ||
	    hca_mem_read(remote.at[0].mem, remote.at[0].offset, &was, sizeof was))
		return refuse_access(peer, &remote);
	if (wqe->opcode == MLX5_OPCODE_ATOMIC_FA)
		is = was + wqe->swap_add;
	else
		is = was == wqe->compare ? wqe->swap_add : was;
	if (hca_mem_write(remote.at[0].mem, remote.at[0].offset, &is, sizeof is))
		return refuse_access(peer, &remote);
	if (!route_hears(msg->from, peer))
		return done;
	pieces_add_bytes(&before, &was, sizeof was);
	return pieces_copy(&msg->local, &before) == COPIED ? done : local;
}

typedef struct answer (*delivery)(struct hca *, struct hca_qp *, const struct message *);

static struct answer carry(struct hca *hca, struct hca_qp *peer, const struct message *msg)
{
	static const delivery deliveries[] = {
	    [MLX5_OPCODE_SEND] = deliver_send,	      [MLX5_OPCODE_SEND_IMM] = deliver_send,
	    [MLX5_OPCODE_RDMA_WRITE] = deliver_write, [MLX5_OPCODE_RDMA_WRITE_IMM] = deliver_write,
	    [MLX5_OPCODE_RDMA_READ] = deliver_read,   [MLX5_OPCODE_ATOMIC_CS] = deliver_atomic,
	    [MLX5_OPCODE_ATOMIC_FA] = deliver_atomic,
	};

	return deliveries[msg->wqe->opcode](hca, peer, msg);
}

/* By how much @msg moves the packet sequence numbers on. */
static uint32_t packets(const struct message *msg)
{
	uint32_t mtu = 128u << msg->from->attr.path_mtu;

	return msg->wqe->length ? (msg->wqe->length - 1) / mtu + 1 : 1;
}

/* All packets but the last are as long as the path MTU, which both must know. */
static bool fits(const struct hca_qp *peer, const struct message *msg)
{
	uint32_t mtu = 128u << peer->attr.path_mtu;

	return msg->wqe->opcode == MLX5_OPCODE_RDMA_READ ||
	       peer->attr.path_mtu == msg->from->attr.path_mtu ||
	       (packets(msg) == 1 && msg->wqe->length <= mtu);
}

static struct answer refuse_request(struct hca_qp *peer)
{
	deliver_error(peer);
	hca_qp_async(peer, IBV_EVENT_QP_REQ_ERR);
	return refuse(MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
}

static void advance(uint32_t *psn, const struct message *msg)
{
	*psn = (*psn + packets(msg)) & PSN_MASK;
}

/*
 * A packet that is not the expected one is dropped. What the peer answers goes to the queue pair
 * that the peer is connected to: if that is not the sender, the sender hears nothing.
 */
static struct answer carry_reliably(struct hca *hca, struct hca_qp *peer, const struct message *msg)
{
	/* As on an adapter, a query shows the numbers that come next. */
	uint32_t *next = &msg->from->attr.sq_psn, *expected = &peer->attr.rq_psn;
	struct answer answer;

	if (*next != *expected)
		return none;
	answer = fits(peer, msg) ? carry(hca, peer, msg) : refuse_request(peer);
	if (answer.kind == ANSWER_DONE)
		advance(expected, msg);
	if (!route_hears(msg->from, peer) && answer.kind != ANSWER_LOCAL)
		return none;
	if (answer.kind == ANSWER_DONE)
		advance(next, msg);
	return answer;
}

struct answer deliver(const struct message *msg)
{
	struct hca *hca;
	struct hca_qp *peer = route_find(msg, &hca);

	if (!peer)
		return none;
	return peer->type == HCA_RC ? carry_reliably(hca, peer, msg) : carry(hca, peer, msg);
}
