/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of a work request once everything is set up, over an RC queue pair connected to itself.
 * An ordinary program: it knows nothing of warmverbs.
 */
#include "loopback.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH	 16
#define MESSAGE	 64
#define WARM_UPS 16

struct endpoint {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	char memory[2 * MESSAGE]; /* from the first half to the second */
};

/* One work request: the time until it is in the queue, and until it is complete. */
struct cost {
	uint64_t post, complete;
};

static struct ibv_qp *create_qp(const struct endpoint *e)
{
	/* The extended interface can ring the doorbell with an empty queue. */
	struct ibv_qp_init_attr_ex attr = {
	    .send_cq = e->cq,
	    .recv_cq = e->cq,
	    .cap = {DEPTH, DEPTH, 1, 1, 0},
	    .qp_type = IBV_QPT_RC,
	    .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	    .pd = e->pd,
	    .send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	return made(ibv_create_qp_ex(e->context, &attr), "ibv_create_qp_ex");
}

static void set_up(struct endpoint *e, int gid_index)
{
	struct ibv_device **list = made(ibv_get_device_list(NULL), "ibv_get_device_list");
	struct loopback loopback;

	if (!list[0])
		give_up(0, "no RDMA device here; tools/lab run makes a software one");
	e->context = made(ibv_open_device(list[0]), "ibv_open_device");
	ibv_free_device_list(list);
	e->pd = made(ibv_alloc_pd(e->context), "ibv_alloc_pd");
	e->cq = made(ibv_create_cq(e->context, 2 * DEPTH, NULL, NULL, 0), "ibv_create_cq");
	e->mr = made(ibv_reg_mr(e->pd, e->memory, sizeof(e->memory),
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
		     "ibv_reg_mr");
	e->qp = create_qp(e);
	modify_to_init(e->qp);
	loopback_init(&loopback, e->context, gid_index);
	modify_to_rtr(e->qp, &loopback);
	modify_to_rts(e->qp);
}

static void post_receive(struct endpoint *e)
{
	struct ibv_sge sge = {(uintptr_t)e->memory + MESSAGE, MESSAGE, e->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	int err = ibv_post_recv(e->qp, &wr, &bad);

	if (err)
		give_up(err, "ibv_post_recv");
}

static struct cost post_and_wait(struct endpoint *e, enum ibv_wr_opcode opcode, int completions)
{
	struct ibv_sge sge = {(uintptr_t)e->memory, MESSAGE, e->mr->lkey};
	struct ibv_send_wr *bad, wr = {
				     .sg_list = &sge,
				     .num_sge = 1,
				     .opcode = opcode,
				     .send_flags = IBV_SEND_SIGNALED,
				     .wr.rdma = {(uintptr_t)e->memory + MESSAGE, e->mr->rkey},
				 };
	uint64_t start = clock_ns(), posted;
	int err = ibv_post_send(e->qp, &wr, &bad);

	if (err)
		give_up(err, "ibv_post_send");
	posted = clock_ns();
	await_completions(e->cq, completions);
	return (struct cost){posted - start, clock_ns() - start};
}

static struct cost send_one(struct endpoint *e)
{
	post_receive(e);
	return post_and_wait(e, IBV_WR_SEND, 2);
}

static struct cost write_one(struct endpoint *e)
{
	return post_and_wait(e, IBV_WR_RDMA_WRITE, 1);
}

static struct cost ring_only(struct endpoint *e)
{
	struct ibv_qp_ex *qp = made(ibv_qp_to_qp_ex(e->qp), "ibv_qp_to_qp_ex");
	uint64_t start;
	int err;

	ibv_wr_start(qp);
	start = clock_ns();
	err = ibv_wr_complete(qp);
	if (err)
		give_up(err, "ibv_wr_complete");
	return (struct cost){clock_ns() - start, 0};
}

/* Medians of @n times @operation. */
static struct cost measure(struct endpoint *e, struct cost (*operation)(struct endpoint *),
			   size_t n)
{
	uint64_t *post = made(calloc(n, sizeof(*post)), "memory");
	uint64_t *complete = made(calloc(n, sizeof(*complete)), "memory");
	struct cost cost;

	for (int i = 0; i < WARM_UPS; i++)
		operation(e);
	for (size_t i = 0; i < n; i++) {
		cost = operation(e);
		post[i] = cost.post;
		complete[i] = cost.complete;
	}
	cost = (struct cost){median(post, n), median(complete, n)};
	free(post);
	free(complete);
	return cost;
}

static void check_data(struct endpoint *e, struct cost (*operation)(struct endpoint *))
{
	memset(e->memory, 0, sizeof(e->memory));
	strcpy(e->memory, "what is sent must arrive");
	operation(e);
	if (memcmp(e->memory, e->memory + MESSAGE, MESSAGE) != 0)
		give_up(0, "other data arrived than was sent");
}

static void tear_down(struct endpoint *e)
{
	if (ibv_destroy_qp(e->qp) || ibv_destroy_cq(e->cq) || ibv_dereg_mr(e->mr) ||
	    ibv_dealloc_pd(e->pd) || ibv_close_device(e->context))
		give_up(0, "something could not be destroyed");
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: datapath [-n TIMES] [-g INDEX]\n"
	      "Prints the median nanoseconds of a work request, to be posted and to be complete.\n"
	      "  -n TIMES  how often (default: 1000)\n"
	      "  -g INDEX  GID to connect to (default: 1)\n",
	      to);
	exit(status);
}

int main(int argc, char **argv)
{
	static struct endpoint endpoint;
	struct cost send, write;
	int c, gid_index = 1;
	size_t n = 1000;

	while ((c = getopt(argc, argv, "n:g:h")) != -1) {
		if (c == 'n')
			n = number(optarg, 1);
		else if (c == 'g')
			gid_index = (int)number(optarg, 0);
		else
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
	}
	set_up(&endpoint, gid_index);
	check_data(&endpoint, send_one);
	check_data(&endpoint, write_one);
	send = measure(&endpoint, send_one, n);
	write = measure(&endpoint, write_one, n);
	printf("send_post %lu\nsend_complete %lu\nwrite_post %lu\nwrite_complete %lu\ndoorbell "
	       "%lu\n",
	       (unsigned long)send.post, (unsigned long)send.complete, (unsigned long)write.post,
	       (unsigned long)write.complete, (unsigned long)measure(&endpoint, ring_only, n).post);
	tear_down(&endpoint);
	return fflush(stdout) ? 1 : 0;
}
