/* SPDX-License-Identifier: BSD-2-Clause */
#include "send.h"

#include "cq.h"
#include "deliver.h"
#include "recv.h"
#include "wqe.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>

#define RNR_FOR_EVER	7
#define UD_BYTES	(128u << HCA_MTU)
#define TIMEOUT_UNIT_NS 4096u
#define NO_TIMEOUT_NS	1000000u /* between two tries of a queue pair without a timeout */

/* Elements of one queue pair in a round: the others and the lock's next user wait meanwhile. */
#define TURN_WQES  16
#define TURN_BYTES (256u << 10)

enum { DB_SEND = 4 };

#define OP(name)     (1ull << MLX5_OPCODE_##name)
#define OPS_SEND     (OP(NOP) | OP(SEND) | OP(SEND_IMM))
#define OPS_WRITE    (OP(RDMA_WRITE) | OP(RDMA_WRITE_IMM))
#define OPS_ANSWERED (OP(RDMA_READ) | OP(ATOMIC_CS) | OP(ATOMIC_FA))
static const uint64_t allowed[HCA_QP_TYPES] = {
    [HCA_RC] = OPS_SEND | OPS_WRITE | OPS_ANSWERED,
    [HCA_UC] = OPS_SEND | OPS_WRITE,
    [HCA_UD] = OPS_SEND,
    [HCA_DCI] = OPS_SEND | OPS_WRITE | OPS_ANSWERED,
};

/* RNR timer of the receiver in units of 10 us, by its code; from the InfiniBand specification. */
static const uint32_t rnr_delay[32] = {65536, 1,    2,	  3,	 4,	6,     8,     12,
				       16,    24,   32,	  48,	 64,	96,    128,   192,
				       256,   384,  512,  768,	 1024,	1536,  2048,  3072,
				       4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

static bool is_reliable(const struct hca_qp *qp)
{
	return qp->type == HCA_RC || qp->type == HCA_DCI;
}

/* Posted basic blocks that were not carried out, at most as many as the queue has. */
static int posted(struct hca_qp *qp, uint16_t *blocks)
{
	uint32_t counter;
	int ret;

	*blocks = 0;
	if (!qp->sq_wqe_count)
		return 0;
	ret = hca_mem_read_be32(&qp->db, DB_SEND, &counter);
	if (!ret)
		*blocks = counter - data_of_qp(qp)->sq_next;
	return ret ?: *blocks > qp->sq_wqe_count ? -EINVAL : 0;
}

/* Reads the next element into @bytes, at most @blocks long, and parses it. */
static int fetch(struct hca_qp *qp, uint16_t blocks, struct send_wqe *wqe)
{
	bool addressed = qp->type == HCA_UD || qp->type == HCA_DCI;
	uint8_t bytes[WQE_MAX_BYTES + 16] __attribute__((aligned(16)));
	size_t len = blocks * WQE_BB < sizeof bytes ? blocks * WQE_BB : sizeof bytes;
	struct wqe_spans spans = wqe_spans(qp->sq_wqe_count * WQE_BB, data_of_qp(qp)->sq_next, len);
	int ret = hca_mem_read(&qp->buf, qp->sq_offset + spans.offset[0], bytes, spans.len[0]);

	if (!ret && spans.len[1])
		ret = hca_mem_read(&qp->buf, qp->sq_offset, bytes + spans.len[0], spans.len[1]);
	if (ret)
		return ret;
	/* What can't be parsed completes with an error. */
	if (wqe_parse_send(bytes, len, addressed, wqe))
		wqe->opcode = UINT8_MAX;
	return 0;
}

/* The queue pair can't go on, and no work request can report that. */
static void fatal(struct hca_qp *qp)
{
	if (qp->state == IBV_QPS_ERR)
		return;
	deliver_error(qp);
	hca_qp_async(qp, IBV_EVENT_QP_FATAL);
}

static void finish(struct hca_qp *qp, const struct send_wqe *wqe)
{
	struct data_qp *data = data_of_qp(qp);

	data->sq_next += wqe->blocks;
	data->wait = WAIT_NOT;
}

static void succeed(struct hca_qp *qp, const struct send_wqe *wqe)
{
	struct completion completion = {
	    .kind = MLX5_CQE_REQ,
	    .opcode = wqe->opcode,
	    .counter = wqe->index,
	    .qpn = qp->qpn,
	    .uidx = qp->uidx,
	    .byte_cnt = wqe->length,
	};

	finish(qp, wqe);
	if (wqe->signalled && cq_post(qp->send_cq, &completion))
		deliver_error(qp);
}

/* Errors are always told, signalled or not. */
static int fail(struct hca_qp *qp, const struct send_wqe *wqe, uint8_t syndrome)
{
	struct completion completion = {
	    .kind = MLX5_CQE_REQ_ERR,
	    .syndrome = syndrome,
	    .counter = wqe->index,
	    .qpn = qp->qpn,
	    .uidx = qp->uidx,
	};

	finish(qp, wqe);
	deliver_error(qp);
	return cq_post(qp->send_cq, &completion);
}

/* Waits for @ns before the next try, or fails with @syndrome after @most tries (0: never). */
static void retry(struct hca_qp *qp, const struct send_wqe *wqe, enum wait wait, uint64_t ns,
		  unsigned int most, uint8_t syndrome)
{
	struct data_qp *data = data_of_qp(qp);

	data->tries = data->wait == wait ? data->tries + 1 : 1;
	data->wait = wait;
	data->retry_at = data_now() + ns;
	if (most && data->tries >= most)
		fail(qp, wqe, syndrome);
}

static void retry_not_ready(struct hca_qp *qp, const struct send_wqe *wqe, uint8_t timer)
{
	unsigned int most = qp->attr.rnr_retry == RNR_FOR_EVER ? 0 : qp->attr.rnr_retry + 1u;

	retry(qp, wqe, WAIT_RNR, rnr_delay[timer & 31] * 10000ull, most,
	      MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
}

/* One more than the count: the last try stands for the end of the last wait. */
static void retry_unanswered(struct hca_qp *qp, const struct send_wqe *wqe)
{
	bool ends = qp->attr.timeout;

	retry(qp, wqe, WAIT_ANSWER,
	      ends ? (uint64_t)TIMEOUT_UNIT_NS << qp->attr.timeout : NO_TIMEOUT_NS,
	      ends ? qp->attr.retry_cnt + 2u : 0, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
}

/* Collects the sender's memory. False, and completed with an error, if it is not allowed. */
static bool gather(struct hca *hca, struct message *msg)
{
	const struct send_wqe *wqe = msg->wqe;
	uint32_t access = OPS_ANSWERED >> wqe->opcode & 1 ? IBV_ACCESS_LOCAL_WRITE : 0;

	if (msg->from->type == HCA_UD && wqe->length > UD_BYTES) {
		fail(msg->from, wqe, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
		return false;
	}
	pieces_add_bytes(&msg->local, wqe->data, wqe->inlined);
	if (pieces_add_sges(&msg->local, hca, msg->from->pd, wqe->sge, wqe->num_sge,
			    wqe->length - wqe->inlined, access)) {
		fail(msg->from, wqe, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
		return false;
	}
	return true;
}

static void carry_out(struct hca *hca, struct hca_qp *qp, const struct send_wqe *wqe)
{
	struct message msg = {.hca = hca, .from = qp, .wqe = wqe};
	struct answer answer;

	if (wqe->opcode > MLX5_OPCODE_MMO || !(allowed[qp->type] >> wqe->opcode & 1)) {
		fail(qp, wqe, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
		return;
	}
	if (!gather(hca, &msg))
		return;
	answer = wqe->opcode == MLX5_OPCODE_NOP ? (struct answer){ANSWER_DONE} : deliver(&msg);
	if (answer.kind == ANSWER_LOCAL)
		fail(qp, wqe, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	else if (answer.kind == ANSWER_DONE || !is_reliable(qp))
		succeed(qp, wqe);
	else if (answer.kind == ANSWER_NOT_READY)
		retry_not_ready(qp, wqe, answer.min_rnr_timer);
	else if (answer.kind == ANSWER_NONE)
		retry_unanswered(qp, wqe);
	else
		fail(qp, wqe, answer.syndrome);
}

static bool flush_sends(struct hca_qp *qp)
{
	struct send_wqe wqe;
	uint16_t blocks;
	bool moved = false;

	while (!posted(qp, &blocks) && blocks && !fetch(qp, blocks, &wqe) &&
	       !fail(qp, &wqe, MLX5_CQE_SYNDROME_WR_FLUSH_ERR))
		moved = true;
	return moved;
}

/* A queue pair does not flush the elements of its SRQ. */
static bool flush_receives(struct hca_qp *qp)
{
	struct completion completion = {
	    .kind = MLX5_CQE_RESP_ERR,
	    .syndrome = MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
	    .qpn = qp->qpn,
	    .uidx = qp->uidx,
	};
	struct recv_wqe wqe;
	bool moved = false;

	while (!qp->srq && !recv_peek(qp, &wqe)) {
		completion.counter = wqe.index;
		recv_consume(qp, &wqe);
		moved = true;
		if (cq_post(qp->recv_cq, &completion))
			break;
	}
	return moved;
}

static bool serve_posted(struct hca *hca, struct hca_qp *qp)
{
	struct data_qp *data = data_of_qp(qp);
	struct send_wqe wqe;
	uint64_t bytes = 0;
	uint16_t blocks;
	unsigned int done;

	if (data->wait != WAIT_NOT && data_now() < data->retry_at)
		return false;
	for (done = 0; qp->state == IBV_QPS_RTS && done < TURN_WQES && bytes < TURN_BYTES; done++) {
		if (posted(qp, &blocks) || (blocks && fetch(qp, blocks, &wqe))) {
			fatal(qp);
			break;
		}
		if (!blocks)
			break;
		carry_out(hca, qp, &wqe);
		if (data->wait != WAIT_NOT)
			break;
		bytes += wqe.length;
	}
	return done;
}

bool send_serve(struct hca *hca, struct hca_qp *qp)
{
	bool sends;

	switch (qp->state) {
	case IBV_QPS_RTS:
		return qp->type != HCA_DCT && qp->type != HCA_RAW && serve_posted(hca, qp);
	case IBV_QPS_ERR:
		if (qp->type == HCA_DCT)
			return false;
		sends = flush_sends(qp);
		return flush_receives(qp) || sends;
	default:
		return false;
	}
}
