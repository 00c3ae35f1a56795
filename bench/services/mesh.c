/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One of N processes, as bench/connect/mesh.c: each is connected to each other and passes a message
 * over each connection. Each is a service, and a client of those with lower numbers.
 */
#include "../connect/link.h"
#include "service.h"

#include <stdio.h>
#include <stdlib.h>

#define MESSAGE 64

static struct node node;
static char (*messages)[MESSAGE]; /* that came; the last one is the own */
static struct ibv_mr *mr;
static struct ibv_qp_init_attr shape;
static unsigned int own, n;

static struct ibv_sge piece(unsigned int i)
{
	return (struct ibv_sge){(uintptr_t)messages[i], MESSAGE, mr->lkey};
}

static void need(int err, const char *verb)
{
	if (err)
		give_up(err, "%s", verb);
}

/* All connections share the receives: one of each other process. */
static void prepare(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = n, .max_sge = 1}};

	shape = start_shape(&node.start);
	shape.srq = made(ibv_create_srq(node.start.pd, &attr), "ibv_create_srq");
	messages = shared_memory(n * sizeof(*messages));
	mr = start_memory(&node.start, messages, n * sizeof(*messages));
	snprintf(messages[n - 1], MESSAGE, "from process %u", own);
	for (unsigned int i = 0; i < n - 1; i++) {
		struct ibv_sge to = piece(i);
		struct ibv_recv_wr *bad, wr = {.sg_list = &to, .num_sge = 1};

		need(ibv_post_srq_recv(shape.srq, &wr, &bad), "ibv_post_srq_recv");
	}
}

static void name_of(char *name, size_t bytes, unsigned int i)
{
	snprintf(name, bytes, "mesh-%u", i);
}

static struct wv_offer *offer(void)
{
	char name[32];
	const struct wv_service_attr attr = {
	    .name = name, .pd = node.start.pd, .qp = &shape, .ready = n - own};

	name_of(name, sizeof(name), own);
	return service_offer(&attr);
}

static struct ibv_qp *client_of(unsigned int i)
{
	char name[32];
	const struct wv_connect_attr attr = {.name = name, .pd = node.start.pd, .qp = &shape};

	name_of(name, sizeof(name), i);
	return service_connect(attr)->qp;
}

static void send_message(struct ibv_qp *qp)
{
	struct ibv_sge from = piece(n - 1);
	struct ibv_send_wr *bad, wr = {
				     .sg_list = &from,
				     .num_sge = 1,
				     .opcode = IBV_WR_SEND,
				     .send_flags = IBV_SEND_SIGNALED,
				 };

	need(ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

/* Each other process has sent one. */
static void check(void)
{
	bool *has_come = made(calloc(n, sizeof(*has_come)), "memory");
	unsigned int from;

	for (unsigned int i = 0; i < n - 1; i++) {
		if (sscanf(messages[i], "from process %u", &from) != 1 || from >= n ||
		    from == own || has_come[from])
			give_up(0, "somebody has sent something else: %s", messages[i]);
		has_come[from] = true;
	}
	free(has_come);
}

int main(int argc, char **argv)
{
	struct options options = options_read(
	    argc, argv, "One of N processes (default: 2) that are all connected by services.");
	struct wv_offer *offered;
	uint64_t begin;

	n = (unsigned int)(options.n ?: 2);
	own = options.index;
	if (own >= n)
		give_up(0, "-i must be less than -n");
	node.start.cq_entries = (int)(2 * n);
	node_begin(&node, &options);
	start_to_cq(&node.start);
	prepare();
	begin = clock_ns();
	offered = offer();
	for (unsigned int i = 0; i < own; i++)
		send_message(client_of(i));
	for (unsigned int i = own + 1; i < n; i++)
		send_message(service_await(offered)->qp);
	start_await(&node.start, 2 * ((int)n - 1));
	print_time("done", clock_ns());
	check();
	node_print(&node);
	print_time("services", clock_ns() - begin);
	return fflush(stdout) ? 1 : 0;
}
