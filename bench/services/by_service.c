/* SPDX-License-Identifier: BSD-2-Clause */
/* Connected by a service on this node, which host.c offers, or link_accept(). */
#include "memory.h"
#include "service.h"

#include "../connect/link.h"

void link_open(struct node *node, const struct options *options)
{
	node_begin(node, options);
	start_to_cq(&node->start);
}

void link_connect(struct link *link, struct node *node, const struct options *options)
{
	struct ibv_qp_init_attr shape = start_shape(&node->start);
	struct wv_service_connection *connection;
	uint64_t begin = clock_ns();

	(void)options;
	connection = service_connect(
	    (struct wv_connect_attr){.name = SERVICE, .pd = node->start.pd, .qp = &shape});
	link->exchange = clock_ns() - begin;
	if (connection->n_regions)
		link->memory =
		    (struct start_remote){connection->regions[0].addr, connection->regions[0].rkey};
	node->start.qp = connection->qp;
}

/* A message that is there before the receive waits for it. */
void link_accept(struct link *link, struct node *node, const struct options *options,
		 struct ibv_recv_wr *receive)
{
	struct ibv_qp_init_attr shape = start_shape(&node->start);
	const struct wv_service_attr attr = {.name = SERVICE, .pd = node->start.pd, .qp = &shape};
	struct ibv_recv_wr *bad;
	int err;

	(void)link;
	(void)options;
	node->start.qp = service_await(service_offer(&attr))->qp;
	err = ibv_post_recv(node->start.qp, receive, &bad);
	if (err)
		give_up(err, "ibv_post_recv");
}

void link_print(const struct link *link)
{
	if (link->exchange)
		print_time("wv_service_connect", link->exchange);
}
