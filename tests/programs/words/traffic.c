/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends and checks messages, from a queue pair to itself or from a DC initiator to a target. */
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BYTES	512
#define GRH	40 /* in front of what a UD queue pair receives */
#define DC_KEY	73
#define N_AREAS 2
#define AREA	1024

/* The memory of one word: messages go from its first area to its second. */
struct exchange {
	struct qp *from, *to;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint8_t *memory;
	uint64_t id;
	unsigned int events;
	bool wait; /* for events */
};

static uint8_t *sent(const struct exchange *x)
{
	return x->memory;
}

static uint8_t *received(const struct exchange *x)
{
	return x->memory + AREA + (x->to->kind == UD ? GRH : 0);
}

static int post_receive(const struct exchange *x)
{
	struct ibv_sge sge = {(uintptr_t)x->memory + AREA, AREA, x->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = ~x->id, .sg_list = &sge, .num_sge = 1}, *bad;

	return x->to->qp->srq ? ibv_post_srq_recv(x->to->qp->srq, &wr, &bad)
			      : ibv_post_recv(x->to->qp, &wr, &bad);
}

static int post_ex(const struct exchange *x)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(x->from->qp);

	ibv_wr_start(qp);
	qp->wr_id = x->id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	if (x->from->kind == UD)
		ibv_wr_set_ud_addr(qp, x->ah, x->to->qp->qp_num, 0x1111);
	if (x->from->kind == DCI)
		mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(qp), x->ah, x->to->qp->qp_num,
				      DC_KEY);
	ibv_wr_set_sge(qp, x->mr->lkey, (uintptr_t)sent(x), BYTES);
	return ibv_wr_complete(qp);
}

static int post_send(const struct exchange *x)
{
	struct ibv_sge sge = {(uintptr_t)sent(x), BYTES, x->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = x->id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	if (x->from->ex)
		return post_ex(x);
	if (x->from->kind == UD) {
		wr.wr.ud.ah = x->ah;
		wr.wr.ud.remote_qpn = x->to->qp->qp_num;
		wr.wr.ud.remote_qkey = 0x1111;
	}
	return ibv_post_send(x->from->qp, &wr, &bad);
}

static int poll_ex(struct ibv_cq_ex *cq, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = {0};

	if (ibv_start_poll(cq, &attr))
		return 0;
	wc->wr_id = cq->wr_id;
	wc->status = cq->status;
	wc->byte_len = ibv_wc_read_byte_len(cq);
	wc->qp_num = ibv_wc_read_qp_num(cq);
	ibv_end_poll(cq);
	return 1;
}

static int poll_once(const struct cq *cq, struct ibv_wc *wc)
{
	return cq->ex ? poll_ex(cq->ex, wc) : ibv_poll_cq(cq->cq, 1, wc);
}

static int wait_event(struct exchange *x, const struct cq *cq)
{
	struct ibv_cq *told;
	void *context;

	if (ibv_get_cq_event(cq->channel, &told, &context))
		return errno;
	if (told != cq->cq)
		return EBADMSG;
	x->events++;
	return 0;
}

/* The next completion of @cq; perhaps waits for its event first. */
static int next(struct exchange *x, const struct cq *cq, struct ibv_wc *wc)
{
	int error = 0;

	while (!error && !poll_once(cq, wc)) {
		if (!x->wait)
			continue;
		error = ibv_req_notify_cq(cq->cq, 0);
		if (!error && poll_once(cq, wc))
			break;
		if (!error)
			error = wait_event(x, cq);
	}
	return error;
}

static bool is_right(const struct exchange *x, const struct ibv_wc *wc)
{
	bool is_send = wc->wr_id == x->id;
	const struct qp *qp = is_send ? x->from : x->to;
	uint32_t bytes = BYTES + (qp->kind == UD ? GRH : 0);

	return wc->status == IBV_WC_SUCCESS && wc->qp_num == qp->qp->qp_num &&
	       (is_send || (wc->wr_id == ~x->id && wc->byte_len == bytes));
}

static int send_one(struct exchange *x)
{
	const struct cq *cqs[] = {x->from->cq, x->to->cq};
	struct ibv_wc wc = {0};
	int error;

	x->id++;
	memset(x->memory, 0, N_AREAS * AREA);
	for (size_t i = 0; i < BYTES; i++)
		sent(x)[i] = (uint8_t)(i * 7 + x->id * 31 + 1);
	error = post_receive(x);
	if (!error)
		error = post_send(x);
	for (int i = 0; i < 2 && !error; i++) {
		error = next(x, cqs[i], &wc);
		if (!error && !is_right(x, &wc))
			error = EBADMSG;
	}
	return error || !memcmp(sent(x), received(x), BYTES) ? error : EILSEQ;
}

static int begin(struct exchange *x, struct ibv_pd *pd)
{
	struct ibv_ah_attr ah = {.is_global = 1, .port_num = PORT};

	x->memory = aligned_alloc(4096, 4096);
	ah.grh.sgid_index = 1;
	ah.grh.hop_limit = 1;
	if (ibv_query_gid(pd->context, PORT, 1, &ah.grh.dgid))
		return errno;
	x->mr = ibv_reg_mr(pd, x->memory, N_AREAS * AREA, IBV_ACCESS_LOCAL_WRITE);
	x->ah = x->mr ? ibv_create_ah(pd, &ah) : NULL;
	return x->ah ? 0 : errno;
}

static void end(struct exchange *x)
{
	if (x->events)
		ibv_ack_cq_events(x->to->cq->cq, x->events);
	if (x->ah)
		ibv_destroy_ah(x->ah);
	if (x->mr)
		ibv_dereg_mr(x->mr);
	free(x->memory);
}

static int exchange(struct qp *from, struct qp *to, struct options o)
{
	struct exchange x = {.from = from, .to = to, .wait = has(o, "events")};
	int error = begin(&x, from->qp->pd);

	for (long i = option(o, "rounds", 40); i && !error; i--)
		error = send_one(&x);
	end(&x);
	return error;
}

static struct qp *find(struct program *p, enum qp_kind kind)
{
	for (unsigned int i = 0; i < p->n_qps; i++)
		if (p->qps[i].kind == kind && p->qps[i].qp)
			return &p->qps[i];
	return NULL;
}

/*
 * "from=N,to=M": from QP N to QP M; "qp=N": to itself; "dc": from the first DCI to the first DCT.
 * Else every QP that can sends to itself.
 */
int do_traffic(struct program *p, struct options o)
{
	int error = 0;

	if (has(o, "dc") && (!find(p, DCI) || !find(p, DCT)))
		return ENOENT;
	if (has(o, "dc"))
		return exchange(find(p, DCI), find(p, DCT), o);
	if (has(o, "from"))
		return exchange(&p->qps[option(o, "from", 0)], &p->qps[option(o, "to", 0)], o);
	if (has(o, "qp"))
		return exchange(chosen_qp(p, o), chosen_qp(p, o), o);
	for (unsigned int i = 0; i < p->n_qps && !error; i++)
		if (p->qps[i].qp && p->qps[i].kind <= UD)
			error = exchange(&p->qps[i], &p->qps[i], o);
	return error;
}
