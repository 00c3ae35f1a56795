/* SPDX-License-Identifier: BSD-2-Clause */
#include "reading.h"

#include <string.h>

/* The connection stays open: when it closes, the server knows that the function has ended. */
static struct hello exchange(in_port_t port, const struct hello *ours)
{
	struct hello theirs;
	int fd = hello_connect("127.0.0.1", port);

	hello_send(fd, ours);
	if (!hello_receive(fd, &theirs))
		give_up(0, "the memory server does not answer");
	return theirs;
}

void reader_connect(struct reader *r, in_port_t port)
{
	static uint8_t buffer[FUNCTION_BYTES] __attribute__((aligned(FUNCTION_BYTES)));
	uint64_t begin = clock_ns(), talked;
	struct loopback own;
	struct hello hello = {0};

	start_to_init(&r->start);
	r->mr = start_memory(&r->start, buffer, sizeof(buffer));
	loopback_init(&own, r->start.context, START_GID_INDEX);
	hello.peer = peer_of(r->start.qp, &own);
	talked = clock_ns();
	hello = exchange(port, &hello);
	talked = clock_ns() - talked;
	r->memory = hello.memory;
	modify_to_rtr_with(r->start.qp, &own, &hello.peer);
	modify_to_rts(r->start.qp);
	r->control = clock_ns() - begin - talked;
}

static void check(const uint8_t *bytes, uint64_t offset)
{
	for (uint64_t i = 0; i < FUNCTION_BYTES; i++)
		if (bytes[i] != server_byte(offset + i))
			give_up(0, "byte %lu of the server's memory is wrong",
				(unsigned long)(offset + i));
}

uint64_t reader_read(const struct reader *r, uint64_t id)
{
	uint64_t offset = id * FUNCTION_BYTES % SERVER_BYTES, completion;
	struct start_remote from = {r->memory.address + offset, r->memory.key};

	start_read(&r->start, r->mr, from);
	completion = clock_ns();
	check(r->mr->addr, offset);
	memset(r->mr->addr, 0, FUNCTION_BYTES);
	return completion;
}
