/* SPDX-License-Identifier: BSD-2-Clause */
#include "ways.h"

#include "memory.h"
#include "service.h"

#include <string.h>
#include <unistd.h>

const char *const way_names[WAYS] = {[PLAIN] = "plain", [ASKED] = "asked", [AHEAD] = "ahead"};

enum way way_of(const char *name)
{
	for (enum way way = 0; way < WAYS; way++)
		if (!strcmp(name, way_names[way]))
			return way;
	give_up(0, "'%s' is no way to be connected: plain, asked or ahead", name);
}

void caller_open(struct caller *caller, const struct options *options, unsigned int ahead)
{
	*caller = (struct caller){
	    .address = options_item(options->addresses, 0),
	    .port = options->port,
	    .ahead = ahead,
	};
	node_open(&caller->node, options, false);
}

static void make_plainly(struct call *call, const struct caller *caller)
{
	const struct node *node = &caller->node;
	struct hello ours = {0}, theirs;

	call->qp = start_new_qp(&node->start);
	modify_to_init(call->qp);
	ours.peer = peer_of(call->qp, &node->own);
	call->fd = hello_connect(caller->address, caller->port);
	hello_send(call->fd, &ours);
	if (!hello_receive(call->fd, &theirs))
		give_up(0, "%s does not answer", caller->address);
	link_move(call->qp, &node->own, &theirs.peer);
	call->memory = theirs.memory;
}

static void make_as_client(struct call *call, const struct caller *caller, unsigned int ahead)
{
	struct ibv_qp_init_attr shape = start_shape(&caller->node.start);
	const struct wv_connect_attr attr = {
	    .node = caller->address,
	    .name = SERVICE,
	    .pd = caller->node.start.pd,
	    .qp = &shape,
	    .ahead = ahead,
	};

	call->as_client = service_connect(attr);
	call->qp = call->as_client->qp;
	call->memory = (struct start_remote){
	    call->as_client->regions[0].addr,
	    call->as_client->regions[0].rkey,
	};
}

void call_make(struct call *call, const struct caller *caller, enum way way)
{
	*call = (struct call){.fd = -1};
	if (way == PLAIN)
		make_plainly(call, caller);
	else
		make_as_client(call, caller, way == AHEAD ? caller->ahead : 0);
}

void call_end(struct call *call)
{
	int err;

	if (call->as_client) {
		wv_service_disconnect(call->as_client);
		return;
	}
	err = ibv_destroy_qp(call->qp);
	if (err)
		give_up(err, "ibv_destroy_qp");
	close(call->fd);
}
