/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many instructions the provider takes to post work requests and to poll their completions, in
 * this process alone. An ordinary program: it knows nothing of warmverbs.
 */
#include "loopback.h"
#include "making.h"
#include "measure.h"
#include "steps.h"

#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES	  16 /* posted in a row, then polled in a row */
#define MESSAGE	  32
#define GRH	  40 /* in front of what a UD queue pair receives */
#define GID_INDEX 1
#define QKEY	  0x11111111

/* A completion queue, and the number of completions polled from it. */
struct queue {
	struct ibv_cq *cq;
	uint32_t taken;
};

struct bed {
	struct making rc, ud, dci, dct;
	struct loopback loopback;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	struct queue sent, received;
	char memory[GRH + 2 * MESSAGE]; /* the last MESSAGE bytes are sent from */
};

/* What is posted: with inline data or not, by ibv_post_send() or by the extended interface. */
struct operation {
	const char *name;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	void (*post)(struct bed *b, const struct operation *o);
	void (*receive)(struct bed *b); /* NULL: the other side takes no part */
};

static char *from(struct bed *b)
{
	return b->memory + GRH + MESSAGE;
}

static void need(int err, const char *what)
{
	if (err)
		give_up(err, "%s", what);
}

static struct ibv_sge sge_of(struct bed *b, void *at, uint32_t bytes)
{
	return (struct ibv_sge){(uintptr_t)at, bytes, b->mr->lkey};
}

static void post(struct bed *b, struct ibv_qp *qp, const struct operation *o)
{
	struct ibv_sge sge = sge_of(b, from(b), MESSAGE);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = o->opcode,
				 .send_flags = IBV_SEND_SIGNALED | o->flags},
			   *bad;

	if (qp == b->ud.qp) {
		wr.wr.ud.ah = b->ah;
		wr.wr.ud.remote_qpn = qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)b->memory;
		wr.wr.rdma.rkey = b->mr->rkey;
	}
	need(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

static void post_rc(struct bed *b, const struct operation *o)
{
	post(b, b->rc.qp, o);
}

static void post_ud(struct bed *b, const struct operation *o)
{
	post(b, b->ud.qp, o);
}

static void post_dci(struct bed *b, const struct operation *o)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(b->dci.qp);

	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED | o->flags;
	if (o->opcode == IBV_WR_SEND)
		ibv_wr_send(qp);
	else
		ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory);
	mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(qp), b->ah, b->dct.qp->qp_num,
			      MAKING_DC_KEY);
	if (o->flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(qp, from(b), MESSAGE);
	else
		ibv_wr_set_sge(qp, b->mr->lkey, (uintptr_t)from(b), MESSAGE);
	need(ibv_wr_complete(qp), "ibv_wr_complete");
}

static void receive_qp(struct bed *b, struct ibv_qp *qp)
{
	struct ibv_sge sge = sge_of(b, b->memory, GRH + MESSAGE);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	need(ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

static void receive_rc(struct bed *b)
{
	receive_qp(b, b->rc.qp);
}

static void receive_ud(struct bed *b)
{
	receive_qp(b, b->ud.qp);
}

static void receive_dct(struct bed *b)
{
	struct ibv_sge sge = sge_of(b, b->memory, MESSAGE);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	need(ibv_post_srq_recv(b->dct.srq, &wr, &bad), "ibv_post_srq_recv");
}

static const struct operation operations[] = {
    {"rc_send", IBV_WR_SEND, 0, post_rc, receive_rc},
    {"rc_send_inline", IBV_WR_SEND, IBV_SEND_INLINE, post_rc, receive_rc},
    {"rc_write", IBV_WR_RDMA_WRITE, 0, post_rc, NULL},
    {"rc_write_inline", IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, post_rc, NULL},
    {"ud_send", IBV_WR_SEND, 0, post_ud, receive_ud},
    {"ud_send_inline", IBV_WR_SEND, IBV_SEND_INLINE, post_ud, receive_ud},
    {"dci_send", IBV_WR_SEND, 0, post_dci, receive_dct},
    {"dci_send_inline", IBV_WR_SEND, IBV_SEND_INLINE, post_dci, receive_dct},
    {"dci_write", IBV_WR_RDMA_WRITE, 0, post_dci, NULL},
};

/* Waits until the next TIMES completions are in memory, and polls none: polling is measured. */
static void await(struct queue *q)
{
	struct mlx5dv_cq cq;
	struct mlx5dv_obj object = {.cq = {.in = q->cq, .out = &cq}};
	volatile const struct mlx5_cqe64 *last;
	uint32_t index = q->taken + TIMES - 1;

	need(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ), "mlx5dv_init_obj");
	last = (void *)((char *)cq.buf + (size_t)(index & (cq.cqe_cnt - 1)) * cq.cqe_size +
			cq.cqe_size - sizeof(*last));
	while (last->op_own >> 4 == MLX5_CQE_INVALID ||
	       (last->op_own & MLX5_CQE_OWNER_MASK) != !!(index & cq.cqe_cnt))
		;
}

/* The argument of steps_of(). */
struct part {
	struct bed *bed;
	const struct operation *operation;
	struct queue *queue;
};

static void post_all(void *arg)
{
	struct part *p = arg;

	for (int i = 0; i < TIMES; i++)
		p->operation->post(p->bed, p->operation);
}

static void receive_all(void *arg)
{
	struct part *p = arg;

	for (int i = 0; i < TIMES; i++)
		p->operation->receive(p->bed);
}

static void poll_all(void *arg)
{
	struct part *p = arg;

	await_completions(p->queue->cq, TIMES);
	p->queue->taken += TIMES;
}

static uint64_t poll_queue(struct part *p, struct queue *q)
{
	p->queue = q;
	await(q);
	return steps_of(poll_all, p);
}

static void print(const char *name, const char *what, uint64_t steps)
{
	printf("%s_%s %lu\n", name, what, (unsigned long)steps);
}

static void measure(struct bed *b, const struct operation *o, bool show)
{
	struct part part = {b, o, NULL};
	uint64_t receive = 0, poll_receive = 0, posted, polled;

	memset(b->memory, 0, sizeof(b->memory));
	strcpy(from(b), o->name);
	if (o->receive)
		receive = steps_of(receive_all, &part);
	posted = steps_of(post_all, &part);
	polled = poll_queue(&part, &b->sent);
	if (o->receive)
		poll_receive = poll_queue(&part, &b->received);
	if (memcmp(b->memory + (o->post == post_ud ? GRH : 0), from(b), MESSAGE) != 0)
		give_up(0, "%s: other data arrived than was sent", o->name);
	if (!show)
		return;
	print(o->name, "post", posted);
	print(o->name, "poll", polled);
	if (o->receive && !o->flags) {
		print(o->name, "post_receive", receive);
		print(o->name, "poll_receive", poll_receive);
	}
}

static void make(struct bed *b, struct making *m, const char *name)
{
	const struct making_kind *kind = making_find(name);

	m->context = b->rc.context;
	m->pd = b->rc.pd;
	m->cq = b->sent.cq;
	m->recv_cq = b->received.cq;
	m->gid_index = GID_INDEX;
	if (kind->has_srq)
		m->srq = making_srq(m);
	m->qp = kind->create(m);
	for (unsigned int i = 0; i < kind->n_moves; i++)
		making_move(m, &kind->moves[i]);
}

/* After all is ready: the steps that need a peer, or this process's own memory. */
static void meet_peer(struct bed *b)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

	b->mr = made(ibv_reg_mr(b->rc.pd, b->memory, sizeof(b->memory),
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
		     "ibv_reg_mr");
	loopback_init(&b->loopback, b->rc.context, GID_INDEX);
	attr.grh.dgid = b->loopback.gid;
	attr.grh.sgid_index = GID_INDEX;
	attr.grh.hop_limit = 1;
	b->ah = made(ibv_create_ah(b->rc.pd, &attr), "ibv_create_ah");
	modify_to_rtr(b->rc.qp, &b->loopback);
	modify_to_rts(b->rc.qp);
}

static int run(int argc, char **argv)
{
	static struct bed b;

	(void)argv;
	if (argc != 1)
		give_up(0, "usage: standin_datapath");
	making_open(&b.rc, made(ibv_get_device_list(NULL), "ibv_get_device_list"), NULL);
	b.rc.pd = made(ibv_alloc_pd(b.rc.context), "ibv_alloc_pd");
	b.sent.cq = making_cq(&b.rc);
	b.received.cq = making_cq(&b.rc);
	make(&b, &b.rc, "rc");
	make(&b, &b.ud, "ud");
	make(&b, &b.dci, "dci");
	make(&b, &b.dct, "dct");
	meet_peer(&b);
	printf("times %d\n", TIMES);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		/* The first round binds functions. */
		measure(&b, &operations[i], false);
		measure(&b, &operations[i], true);
	}
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	return steps_run(run, argc, argv);
}
