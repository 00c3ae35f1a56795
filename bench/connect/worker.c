/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker: starts, connects to server.c, and looks random keys up in its store by RDMA READs, for
 * some time and at a steady rate, as if requests came. Prints how many it has looked up in each
 * slot of time, on the machine's clock.
 */
#include "link.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND_NS 1000000000u
#define SLOT_NS	  10000000u
#define PERIOD_NS 2000000u

static struct store_bucket bucket;
static struct node node;
static struct link link_to_store;
static struct ibv_mr *mr;

/* xorshift (G. Marsaglia, 2003): each worker has its own order. */
static uint64_t next_key(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % STORE_KEYS + 1;
}

static void look_up(uint64_t key)
{
	size_t at = store_bucket_of(key);
	enum store_found found;

	do {
		start_read(&node.start, mr,
			   (struct start_remote){
			       link_to_store.memory.address + at * sizeof(bucket),
			       link_to_store.memory.key,
			   });
		found = store_find(&bucket, key);
		at = (at + 1) % STORE_BUCKETS;
	} while (found == STORE_NEXT);
	if (found == STORE_NONE)
		give_up(0, "key %lu is not in the store", (unsigned long)key);
}

static void sleep_until(uint64_t when)
{
	struct timespec t = {(time_t)(when / SECOND_NS), (long)(when % SECOND_NS)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* From @due until @until; prints the slots. */
static void work(uint64_t due, uint64_t until)
{
	uint64_t state = (uint64_t)getpid(), slot = due / SLOT_NS, n = 0;

	for (; due < until; due += PERIOD_NS) {
		sleep_until(due);
		look_up(next_key(&state));
		if (clock_ns() / SLOT_NS != slot) {
			printf("slot_%lu %lu\n", (unsigned long)slot, (unsigned long)n);
			slot = clock_ns() / SLOT_NS;
			n = 0;
		}
		n++;
	}
	printf("slot_%lu %lu\n", (unsigned long)slot, (unsigned long)n);
}

int main(int argc, char **argv)
{
	struct options options = options_read(
	    argc, argv, "Looks keys up in a store for N ms (default: 1000), and prints how many.");
	uint64_t served, duration = (options.n ?: 1000) * 1000000u;

	link_open(&node, &options);
	link_connect(&link_to_store, &node, &options);
	mr = start_memory(&node.start, &bucket, sizeof(bucket));
	look_up(1);
	served = clock_ns();
	if (node.started)
		print_time("first_read", served - node.started);
	work(served + PERIOD_NS, served + duration);
	node_print(&node);
	link_print(&link_to_store);
	return fflush(stdout) ? 1 : 0;
}
