/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Without an argument: offers the service "greeting", memory that its clients may read, until
 * standard input ends. With one: reads the greeting of the node of that name, and prints it.
 */
#include "warmverbs-service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[64];
static struct ibv_mr *mr;

static void check(int err, const char *what)
{
	if (err) {
		fprintf(stderr, "%s: %s\n", what, strerror(err));
		exit(1);
	}
}

static void offer(struct ibv_pd *pd, const struct ibv_qp_init_attr *qp)
{
	const struct wv_service_attr attr = {.name = "greeting",
					     .pd = pd,
					     .qp = qp,
					     .access = IBV_ACCESS_REMOTE_READ,
					     .ready = 4,
					     .mrs = &mr,
					     .n_mrs = 1};
	struct wv_offer *offered;

	strcpy(text, "good morning");
	check(wv_service_offer(&attr, sizeof(attr), &offered), "wv_service_offer");
	puts("offered");
	fflush(stdout);
	while (getchar() != EOF)
		;
	wv_service_withdraw(offered); /* the clients' queue pairs end with the process */
}

static void read_greeting(struct ibv_pd *pd, const struct ibv_qp_init_attr *qp, const char *node)
{
	const struct wv_connect_attr attr = {.node = node, .name = "greeting", .pd = pd, .qp = qp};
	struct wv_service_connection *c;
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_READ, .num_sge = 1}, *bad;
	struct ibv_sge sge = {(uintptr_t)text, sizeof(text), mr->lkey};
	struct ibv_wc wc;
	int n;

	check(wv_service_connect(&attr, sizeof(attr), &c), "wv_service_connect");
	wr.sg_list = &sge;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = c->regions[0].addr;
	wr.wr.rdma.rkey = c->regions[0].rkey;
	check(ibv_post_send(c->qp, &wr, &bad), "ibv_post_send");
	while (!(n = ibv_poll_cq(qp->send_cq, 1, &wc)))
		;
	check(n < 0 || wc.status, "completion");
	puts(text);
	wv_service_disconnect(c);
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr qp = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;

	qp.send_cq = qp.recv_cq = pd ? ibv_create_cq(context, 16, NULL, NULL, 0) : NULL;
	mr = qp.send_cq ? ibv_reg_mr(pd, text, sizeof(text),
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)
			: NULL;
	check(!mr, "no RDMA device, or not allowed to use it");
	if (argc > 1)
		read_greeting(pd, &qp, argv[1]);
	else
		offer(pd, &qp);
	return 0;
}
