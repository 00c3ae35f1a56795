/* SPDX-License-Identifier: BSD-2-Clause */
#include "link.h"

#include "../stamp.h"

#include <stdio.h>
#include <stdlib.h>

void print_time(const char *name, uint64_t nanoseconds)
{
	printf("%s %lu\n", name, (unsigned long)nanoseconds);
}

void node_begin(struct node *node, const struct options *options)
{
	const char *stamp = getenv(STAMP_ENV);

	node->began = clock_ns();
	node->started = stamp ? strtoull(stamp, NULL, 10) : 0;
	node->start.device = options_item(options->devices, options->index);
}

void node_open(struct node *node, const struct options *options, bool with_qp)
{
	char *gid = options_item(options->gids, options->index);
	uint64_t last;

	node_begin(node, options);
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
	if (node->query)
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
