/* SPDX-License-Identifier: BSD-2-Clause */
/* Connected by the service that host.c offers on this node. */
#include "memory.h"
#include "warmverbs-service.h"

#include "../connect/link.h"

#define PATIENCE_MS 10000

void link_open(struct node *node, const struct options *options)
{
	node_begin(node, options);
	start_to_cq(&node->start);
}

void link_connect(struct link *link, struct node *node, const struct options *options)
{
	struct ibv_qp_init_attr shape = start_shape(&node->start);
	const struct wv_connect_attr attr = {
	    .name = SERVICE,
	    .pd = node->start.pd,
	    .qp = &shape,
	    .timeout_ms = PATIENCE_MS,
	};
	struct wv_service_connection *connection;
	uint64_t begin = clock_ns();
	int err = wv_service_connect(&attr, sizeof(attr), &connection);

	(void)options;
	if (err)
		give_up(err, "wv_service_connect");
	link->exchange = clock_ns() - begin;
	link->memory =
	    (struct start_remote){connection->regions[0].addr, connection->regions[0].rkey};
	node->start.qp = connection->qp;
}

void link_print(const struct link *link)
{
	print_time("wv_service_connect", link->exchange);
}
