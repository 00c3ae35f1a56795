/* SPDX-License-Identifier: BSD-2-Clause */
#include "link.h"

#include "../stamp.h"

#include <stdio.h>
#include <stdlib.h>

void print_time(const char *name, uint64_t nanoseconds)
{
	printf("%s %lu\n", name, (unsigned long)nanoseconds);
}

void node_open(struct node *node, const struct options *options, bool with_qp)
{
	char *gid = options_item(options->gids, options->index);
	const char *stamp = getenv(STAMP_ENV);
	uint64_t last;

	node->began = clock_ns();
	node->started = stamp ? strtoull(stamp, NULL, 10) : 0;
	node->start.device = options_item(options->devices, options->index);
	(with_qp ? start_to_init : start_to_cq)(&node->start);
	last = clock_ns();
	loopback_init(&node->own, node->start.context, (int)number(gid, 0));
	node->query = clock_ns() - last;
	free(gid);
}

void node_print(const struct node *node)
{
	if (node->started)
		print_time("start", node->began - node->started);
	for (int verb = 0; verb < START_VERBS; verb++)
		if (node->start.spent[verb])
			print_time(start_names[verb], node->start.spent[verb]);
	print_time("query_port_and_gid", node->query);
}

struct link_moves link_move(struct ibv_qp *qp, const struct loopback *own, const struct peer *peer)
{
	uint64_t begin = clock_ns(), rtr;

	modify_to_rtr_with(qp, own, peer);
	rtr = clock_ns();
	modify_to_rts(qp);
	return (struct link_moves){rtr - begin, clock_ns() - rtr};
}

void link_connect(struct link *link, const struct node *node, const struct options *options)
{
	char *address = options_item(options->addresses, 0);
	struct hello ours = {.peer = peer_of(node->start.qp, &node->own)}, theirs;
	uint64_t begin = clock_ns();
	struct link_moves took;

	link->fd = hello_connect(address, options->port);
	hello_send(link->fd, &ours);
	if (!hello_receive(link->fd, &theirs))
		give_up(0, "%s does not answer", address);
	link->exchange = clock_ns() - begin;
	took = link_move(node->start.qp, &node->own, &theirs.peer);
	link->rtr = took.rtr;
	link->rts = took.rts;
	link->memory = theirs.memory;
	free(address);
}

void link_print(const struct link *link)
{
	print_time("exchange", link->exchange);
	print_time("modify_rtr", link->rtr);
	print_time("modify_rts", link->rts);
}
