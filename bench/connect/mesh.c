/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One of N processes, each of which connects to each other and passes a message over each
 * connection, as the ranks of a parallel program do. Number I listens on the first port plus I.
 */
#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MESSAGE 64

struct other {
	struct ibv_qp *qp;
	int fd;
	char out[MESSAGE], in[MESSAGE];
};

static struct node node;
static struct other *others; /* by number; the own one is not used */
static struct ibv_mr *mr;
static unsigned int own, n;
static uint64_t moving; /* nanoseconds to RTR and RTS */

static struct ibv_sge piece(void *message)
{
	return (struct ibv_sge){(uintptr_t)message, MESSAGE, mr->lkey};
}

static void write_message(char *message, unsigned int from, unsigned int to)
{
	snprintf(message, MESSAGE, "from process %u to process %u", from, to);
}

/* Creates a queue pair that is ready to be connected. */
static uint64_t prepare(unsigned int i)
{
	struct other *other = &others[i];
	struct ibv_sge to = piece(other->in);
	struct ibv_recv_wr *bad, wr = {.sg_list = &to, .num_sge = 1};
	uint64_t begin = clock_ns();
	int err;

	other->qp = start_new_qp(&node.start);
	modify_to_init(other->qp);
	begin = clock_ns() - begin;
	err = ibv_post_recv(other->qp, &wr, &bad);
	if (err)
		give_up(err, "ibv_post_recv");
	write_message(other->out, own, i);
	return begin;
}

static void say_hello(unsigned int i)
{
	struct hello hello = {.peer = peer_of(others[i].qp, &node.own), .from = own};

	hello_send(others[i].fd, &hello);
}

static void move(unsigned int i, const struct hello *theirs)
{
	struct link_moves took = link_move(others[i].qp, &node.own, &theirs->peer);

	moving += took.rtr + took.rts;
}

/*
 * Those with lower numbers are called, those with higher ones call. Nobody waits in a circle: all
 * calls are made before any answer is awaited.
 */
static void call_lower(const struct options *options)
{
	for (unsigned int i = 0; i < own; i++) {
		char *address = options_item(options->addresses, i);

		others[i].fd = hello_connect(address, (in_port_t)(options->port + i));
		say_hello(i);
		free(address);
	}
}

static void answer_higher(int listener)
{
	for (unsigned int left = n - 1 - own; left; left--) {
		int fd = hello_accept(listener);
		struct hello theirs;

		if (!hello_receive(fd, &theirs) || theirs.from <= own || theirs.from >= n)
			give_up(0, "a process of the mesh has ended");
		others[theirs.from].fd = fd;
		move(theirs.from, &theirs);
		say_hello(theirs.from);
	}
}

/* Then they know that they may send. */
static void confirm_to_lower(void)
{
	for (unsigned int i = 0; i < own; i++) {
		struct hello theirs;

		if (!hello_receive(others[i].fd, &theirs))
			give_up(0, "process %u has ended", i);
		move(i, &theirs);
		say_hello(i);
	}
}

static void send_message(unsigned int i)
{
	struct ibv_sge from = piece(others[i].out);
	struct ibv_send_wr *bad, wr = {
				     .sg_list = &from,
				     .num_sge = 1,
				     .opcode = IBV_WR_SEND,
				     .send_flags = IBV_SEND_SIGNALED,
				 };
	struct hello confirmed;
	int err;

	if (i > own && !hello_receive(others[i].fd, &confirmed))
		give_up(0, "process %u has ended", i);
	err = ibv_post_send(others[i].qp, &wr, &bad);
	if (err)
		give_up(err, "ibv_post_send");
}

static void check(unsigned int i)
{
	char expected[MESSAGE];

	write_message(expected, i, own);
	if (strcmp(others[i].in, expected) != 0)
		give_up(0, "process %u has sent something else", i);
}

static void for_others(void (*work)(unsigned int i))
{
	for (unsigned int i = 0; i < n; i++)
		if (i != own)
			work(i);
}

int main(int argc, char **argv)
{
	struct options options = options_read(
	    argc, argv, "One of N processes (default: 2) that all connect to each other.");
	uint64_t creating = 0;
	int listener;

	n = (unsigned int)(options.n ?: 2);
	own = options.index;
	if (own >= n || !options.port)
		give_up(0, "-i must be less than -n, and -p is needed");
	node.start.cq_entries = (int)(2 * n);
	node_open(&node, &options, false);
	hello_listen((in_port_t)(options.port + own), (int)n, &listener);
	others = shared_memory(n * sizeof(*others));
	mr = start_memory(&node.start, others, n * sizeof(*others));
	for (unsigned int i = 0; i < n; i++)
		creating += i == own ? 0 : prepare(i);
	call_lower(&options);
	answer_higher(listener);
	confirm_to_lower();
	for_others(send_message);
	start_await(&node.start, 2 * ((int)n - 1));
	print_time("done", clock_ns());
	for_others(check);
	node_print(&node);
	print_time("create_and_init", creating);
	print_time("rtr_and_rts", moving);
	return fflush(stdout) ? 1 : 0;
}
