/* SPDX-License-Identifier: BSD-2-Clause */
/* A client: starts, connects to server.c, reads 4 KB from its store, and ends. */
#include "link.h"
#include "store.h"

#include <stdio.h>

#define BYTES	4096
#define BUCKETS (BYTES / sizeof(struct store_bucket))

int main(int argc, char **argv)
{
	static struct store_bucket buckets[BUCKETS] __attribute__((aligned(BYTES)));
	struct options options = options_read(
	    argc, argv, "Reads 4 KB from a store, and prints the nanoseconds that each step took.");
	struct start_remote from;
	struct node node = {0};
	struct link link;
	struct ibv_mr *mr;
	uint64_t last, registered, completed;

	link_open(&node, &options);
	link_connect(&link, &node, &options);
	last = clock_ns();
	mr = start_memory(&node.start, buckets, BYTES);
	registered = clock_ns();
	from = link.memory;
	from.address += options.index * BYTES % STORE_BYTES;
	start_read(&node.start, mr, from);
	completed = clock_ns();
	node_print(&node);
	link_print(&link);
	print_time("reg_mr", registered - last);
	print_time("read", completed - registered);
	store_check(buckets, BUCKETS);
	if (node.started)
		print_time("first_completion", completed - node.started);
	return fflush(stdout) ? 1 : 0;
}
