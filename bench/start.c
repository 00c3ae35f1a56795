/* SPDX-License-Identifier: BSD-2-Clause */
#include "start.h"

#include "loopback.h"

#include <sched.h>
#include <string.h>

#define CQ_ENTRIES 16
#define DEPTH	   16

const char *const start_names[START_VERBS] = {
    [START_LIST] = "get_device_list", [START_OPEN] = "open_device", [START_PD] = "alloc_pd",
    [START_CQ] = "create_cq",	      [START_QP] = "create_qp",	    [START_INIT] = "modify_init",
};

struct ibv_qp_init_attr start_shape(const struct start *s)
{
	return (struct ibv_qp_init_attr){
	    .send_cq = s->cq,
	    .recv_cq = s->cq,
	    .cap = {.max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	    .qp_type = IBV_QPT_RC,
	};
}

struct ibv_qp *start_new_qp(const struct start *s)
{
	struct ibv_qp_init_attr attr = start_shape(s);

	return made(ibv_create_qp(s->pd, &attr), "ibv_create_qp");
}

/* Ends @verb: it is charged with all time since the end of the last one. */
static void end(struct start *s, enum start_verb verb, uint64_t *last)
{
	uint64_t now = clock_ns();

	s->spent[verb] = now - *last;
	*last = now;
}

struct ibv_device *start_device(struct ibv_device **list, const char *name)
{
	if (!list[0])
		give_up(0, "no RDMA device here; tools/lab run makes a software one");
	while (name && *list && strcmp(ibv_get_device_name(*list), name))
		list++;
	if (!*list)
		give_up(0, "there is no RDMA device %s", name);
	return *list;
}

void start_to_cq(struct start *s)
{
	uint64_t last = clock_ns();
	struct ibv_device **list = made(ibv_get_device_list(NULL), "ibv_get_device_list");

	end(s, START_LIST, &last);
	s->context = made(ibv_open_device(start_device(list, s->device)), "ibv_open_device");
	end(s, START_OPEN, &last);
	s->pd = made(ibv_alloc_pd(s->context), "ibv_alloc_pd");
	end(s, START_PD, &last);
	s->cq = made(ibv_create_cq(s->context, s->cq_entries ?: CQ_ENTRIES, NULL, NULL, 0),
		     "ibv_create_cq");
	end(s, START_CQ, &last);
}

void start_to_init(struct start *s)
{
	uint64_t last;

	start_to_cq(s);
	last = clock_ns();
	s->qp = start_new_qp(s);
	end(s, START_QP, &last);
	modify_to_init(s->qp);
	end(s, START_INIT, &last);
}

uint64_t start_total(const struct start *s)
{
	uint64_t total = 0;

	for (int verb = 0; verb < START_VERBS; verb++)
		total += s->spent[verb];
	return total;
}

struct ibv_mr *start_memory(const struct start *s, void *memory, size_t bytes)
{
	return made(
	    ibv_reg_mr(s->pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
	    "ibv_reg_mr");
}

/* Many such programs may share a few processors with the side that answers them. */
void start_await(const struct start *s, int n)
{
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(s->cq, 1, &wc);

		if (got < 0)
			give_up(-got, "ibv_poll_cq");
		if (got && wc.status != IBV_WC_SUCCESS)
			give_up(0, "work request failed: %s", ibv_wc_status_str(wc.status));
		if (!got)
			sched_yield();
		n -= got;
	}
}

static void read_between(const struct start *s, struct ibv_sge to, struct start_remote from)
{
	struct ibv_send_wr *bad, wr = {
				     .sg_list = &to,
				     .num_sge = 1,
				     .opcode = IBV_WR_RDMA_READ,
				     .send_flags = IBV_SEND_SIGNALED,
				     .wr.rdma = {.remote_addr = from.address, .rkey = from.key},
				 };
	int err = ibv_post_send(s->qp, &wr, &bad);

	if (err)
		give_up(err, "posting an RDMA READ");
	start_await(s, 1);
}

void start_read(const struct start *s, const struct ibv_mr *to, struct start_remote from)
{
	read_between(s, (struct ibv_sge){(uintptr_t)to->addr, (uint32_t)to->length, to->lkey},
		     from);
}

void start_read_own(struct start *s, void *memory, size_t bytes)
{
	struct ibv_mr *mr = start_memory(s, memory, bytes);
	uint32_t half = (uint32_t)(bytes / 2);
	char *from = memory, *to = from + half;
	struct loopback loopback;

	loopback_init(&loopback, s->context, START_GID_INDEX);
	modify_to_rtr(s->qp, &loopback);
	modify_to_rts(s->qp);
	memset(from, 'w', half);
	read_between(s, (struct ibv_sge){(uintptr_t)to, half, mr->lkey},
		     (struct start_remote){(uintptr_t)from, mr->rkey});
	if (memcmp(from, to, half) != 0)
		give_up(0, "an RDMA READ brought other data");
}
