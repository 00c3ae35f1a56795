/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two functions, of which number 1 hands some bytes to number 0: both start, open the device and
 * make a queue pair, connect, transfer the bytes by one SEND, and end.
 */
#include "link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct node node;
static uint8_t *bytes;
static struct ibv_sge piece;

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 31 + i / 251);
}

static void make_room(size_t n)
{
	struct ibv_mr *mr;

	bytes = shared_memory(n);
	mr = start_memory(&node.start, bytes, n);
	piece = (struct ibv_sge){(uintptr_t)bytes, (uint32_t)n, mr->lkey};
}

static void receive(const struct options *options)
{
	struct ibv_recv_wr wr = {.sg_list = &piece, .num_sge = 1};
	struct link link = {0};

	link_accept(&link, &node, options, &wr);
	start_await(&node.start, 1);
	print_time("received", clock_ns());
	for (size_t i = 0; i < piece.length; i++)
		if (bytes[i] != byte_at(i))
			give_up(0, "byte %zu is wrong", i);
	link_print(&link);
}

static void hand_over(const struct options *options)
{
	struct ibv_send_wr *bad, wr = {
				     .sg_list = &piece,
				     .num_sge = 1,
				     .opcode = IBV_WR_SEND,
				     .send_flags = IBV_SEND_SIGNALED,
				 };
	struct link link;
	uint64_t begin;
	int err;

	for (size_t i = 0; i < piece.length; i++)
		bytes[i] = byte_at(i);
	link_connect(&link, &node, options);
	begin = clock_ns();
	err = ibv_post_send(node.start.qp, &wr, &bad);
	if (err)
		give_up(err, "ibv_post_send");
	start_await(&node.start, 1);
	link_print(&link);
	print_time("send", clock_ns() - begin);
}

int main(int argc, char **argv)
{
	struct options options =
	    options_read(argc, argv, "Number 1 hands N bytes (default: 1) to number 0.");

	link_open(&node, &options);
	make_room(options.n ?: 1);
	node_print(&node);
	(options.index ? hand_over : receive)(&options);
	return fflush(stdout) ? 1 : 0;
}
