/* SPDX-License-Identifier: BSD-2-Clause */
/* Connected plainly: each side tells the other over TCP how. */
#include "link.h"

#include <stdlib.h>

void link_open(struct node *node, const struct options *options)
{
	node_open(node, options, true);
}

void link_connect(struct link *link, struct node *node, const struct options *options)
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

void link_accept(struct link *link, struct node *node, const struct options *options,
		 struct ibv_recv_wr *receive)
{
	struct hello theirs, ours = {.peer = peer_of(node->start.qp, &node->own)};
	struct link_moves took;
	struct ibv_recv_wr *bad;
	int listener, err = ibv_post_recv(node->start.qp, receive, &bad);

	if (err)
		give_up(err, "ibv_post_recv");
	hello_listen(options->port, 1, &listener);
	link->fd = hello_accept(listener);
	if (!hello_receive(link->fd, &theirs))
		give_up(0, "the other side does not answer");
	took = link_move(node->start.qp, &node->own, &theirs.peer);
	link->rtr = took.rtr;
	link->rts = took.rts;
	hello_send(link->fd, &ours);
}

void link_print(const struct link *link)
{
	if (link->exchange)
		print_time("exchange", link->exchange);
	print_time("modify_rtr", link->rtr);
	print_time("modify_rts", link->rts);
}
