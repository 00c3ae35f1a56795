/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server: it offers a store to be read by RDMA, and creates and connects a queue pair for each
 * client that comes, and destroys it when the client has ended. It ends at the end of its standard
 * input, and prints what each connection took.
 */
#include "link.h"
#include "store.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BACKLOG	    128
#define MAX_CLIENTS 256 /* at a time */

enum phase { CREATE, INIT, RTR, RTS, DESTROY, PHASES };

static const char *const names[PHASES] = {
    [CREATE] = "create_qp", [INIT] = "modify_init",   [RTR] = "modify_rtr",
    [RTS] = "modify_rts",   [DESTROY] = "destroy_qp",
};

/* One that has come and not gone yet. */
struct client {
	struct ibv_qp *qp; /* NULL until the client has said how to connect */
	size_t connection; /* the number of that */
};

/* What the server polls: its standard input, its listener, and clients from then on. */
enum { STDIN, LISTENER, FIRST_CLIENT };
static struct pollfd polled[FIRST_CLIENT + MAX_CLIENTS];
static struct client clients[FIRST_CLIENT + MAX_CLIENTS];
static nfds_t n_polled = FIRST_CLIENT;

static struct node node;
static struct start_remote memory;
static uint64_t (*spent)[PHASES]; /* by connection */
static size_t n_connections, room;

static uint64_t *new_connection(void)
{
	if (n_connections == room) {
		room = room ? 2 * room : 64;
		spent = made(realloc(spent, room * sizeof(*spent)), "memory");
	}
	return spent[n_connections++];
}

static struct ibv_qp *connect_qp(const struct peer *peer, uint64_t *took)
{
	uint64_t begin = clock_ns(), created;
	struct ibv_qp *qp = start_new_qp(&node.start);
	struct link_moves moves;

	created = clock_ns();
	modify_to_init(qp);
	took[CREATE] = created - begin;
	took[INIT] = clock_ns() - created;
	moves = link_move(qp, &node.own, peer);
	took[RTR] = moves.rtr;
	took[RTS] = moves.rts;
	return qp;
}

/* False: it has ended. */
static bool serve(struct client *client, int fd)
{
	struct hello theirs, ours = {.memory = memory};

	if (!hello_receive(fd, &theirs))
		return false;
	client->connection = n_connections;
	client->qp = connect_qp(&theirs.peer, new_connection());
	ours.peer = peer_of(client->qp, &node.own);
	hello_send(fd, &ours);
	return true;
}

static void end(const struct client *client)
{
	uint64_t begin = clock_ns();
	int err = client->qp ? ibv_destroy_qp(client->qp) : 0;

	if (err)
		give_up(err, "ibv_destroy_qp");
	if (client->qp)
		spent[client->connection][DESTROY] = clock_ns() - begin;
}

static void add(int fd)
{
	if (n_polled == FIRST_CLIENT + MAX_CLIENTS)
		give_up(0, "more than %d clients at a time", MAX_CLIENTS);
	polled[n_polled] = (struct pollfd){.fd = fd, .events = POLLIN};
	clients[n_polled++] = (struct client){0};
}

static void drop(nfds_t i)
{
	close(polled[i].fd);
	end(&clients[i]);
	n_polled--;
	polled[i] = polled[n_polled];
	clients[i] = clients[n_polled];
}

static void serve_all(void)
{
	while (!polled[STDIN].revents) {
		if (poll(polled, n_polled, -1) < 0)
			give_up(errno, "poll");
		/* From the last to the first, because drop() moves the last one. */
		for (nfds_t i = n_polled - 1; i >= FIRST_CLIENT; i--)
			if (polled[i].revents && !serve(&clients[i], polled[i].fd))
				drop(i);
		if (polled[LISTENER].revents)
			add(hello_accept(polled[LISTENER].fd));
	}
}

static void offer_store(void)
{
	struct store_bucket *table = shared_memory(STORE_BYTES);
	struct ibv_mr *mr = start_memory(&node.start, table, STORE_BYTES);

	store_fill(table);
	memory = (struct start_remote){(uintptr_t)table, mr->rkey};
}

static void print(void)
{
	for (size_t i = 0; i < n_connections; i++)
		for (enum phase phase = 0; phase < PHASES; phase++)
			print_time(names[phase], spent[i][phase]);
}

int main(int argc, char **argv)
{
	struct options options = options_read(
	    argc, argv, "Offers a store, and prints its port and what each connection took.");

	node_open(&node, &options, false);
	offer_store();
	polled[STDIN] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	polled[LISTENER].events = POLLIN;
	printf("port %d\n", hello_listen(options.port, BACKLOG, &polled[LISTENER].fd));
	if (fflush(stdout))
		give_up(errno, "stdout");
	serve_all();
	print();
	free(spent);
	return fflush(stdout) ? 1 : 0;
}
