/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of host.c that is connected to it again and again, in each way in turn, and each time
 * hands it 4 KB: how long until it was connected, and until the host had noticed the bytes. It
 * rests before each call, so that all that is done ahead can be.
 */
#include "memory.h"
#include "ways.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AHEAD_OF_CALLS 2
#define REST_US	       20000

static struct caller caller;
static uint8_t bytes[HANDED_BYTES];
static uint64_t noticed;
static struct ibv_mr *bytes_mr, *noticed_mr;

/* The host has a piece of memory that says when it looked at the bytes: reading it is not timed. */
static uint64_t read_noticed(const struct start *start, struct start_remote from, uint64_t since)
{
	from.address += offsetof(struct host_memory, noticed);
	do
		start_read(start, noticed_mr, from);
	while (noticed < since);
	return noticed;
}

/* When the host had noticed it. */
static uint64_t hand_over(const struct call *call, uint8_t byte)
{
	struct start start = caller.node.start;
	struct ibv_sge from = {(uintptr_t)bytes, sizeof(bytes), bytes_mr->lkey};
	struct ibv_send_wr *bad, wr = {
				     .sg_list = &from,
				     .num_sge = 1,
				     .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				     .send_flags = IBV_SEND_SIGNALED,
				     .imm_data = byte,
				 };
	uint64_t begin = clock_ns();
	int err;

	memset(bytes, byte, sizeof(bytes));
	wr.wr.rdma.remote_addr = call->memory.address + offsetof(struct host_memory, inbox);
	wr.wr.rdma.rkey = call->memory.key;
	err = ibv_post_send(call->qp, &wr, &bad);
	if (err)
		give_up(err, "posting an RDMA WRITE");
	start_await(&start, 1);
	start.qp = call->qp;
	return read_noticed(&start, call->memory, begin);
}

static void once(enum way way, unsigned long round)
{
	struct call call;
	uint64_t begin, connected, handed_over;

	usleep(REST_US);
	begin = clock_ns();
	call_make(&call, &caller, way);
	connected = clock_ns();
	handed_over = hand_over(&call, (uint8_t)round);
	call_end(&call);
	if (!round) /* in which all that is made once is made */
		return;
	printf("%s_connected %lu\n", way_names[way], (unsigned long)(connected - begin));
	printf("%s_noticed %lu\n", way_names[way], (unsigned long)(handed_over - begin));
}

int main(int argc, char **argv)
{
	struct options options =
	    options_read_words(argc, argv, " WAY...",
			       "Is connected N times in each WAY (plain, asked, ahead), and hands "
			       "over 4 KB each time.");

	caller_open(&caller, &options, AHEAD_OF_CALLS);
	bytes_mr = start_memory(&caller.node.start, bytes, sizeof(bytes));
	noticed_mr = start_memory(&caller.node.start, &noticed, sizeof(noticed));
	for (unsigned long round = 0; round <= options.n; round++)
		for (char **word = options.words; *word; word++)
			once(way_of(*word), round);
	wv_service_release(caller.node.start.pd);
	return fflush(stdout) ? 1 : 0;
}
