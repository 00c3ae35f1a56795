/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is registered when a program starts: by wv_alloc_mr() where warmverbs is preloaded,
 * else mapped and registered, as programs do it. Prints the nanoseconds of that, of the first touch
 * of each page, and from the device list on.
 */
#include "measure.h"
#include "start.h"
#include "warmverbs.h"

#include <stdio.h>
#include <stdlib.h>

#define ACCESS	 (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define PAGE	 4096
#define KILOBYTE 1024

#pragma weak wv_alloc_mr

static struct ibv_mr *registered(struct ibv_pd *pd, size_t bytes)
{
	struct ibv_mr *mr;
	int err;

	if (!wv_alloc_mr)
		return made(ibv_reg_mr(pd, private_memory(bytes), bytes, ACCESS), "ibv_reg_mr");
	err = wv_alloc_mr(pd, bytes, ACCESS, &mr);
	if (err)
		give_up(err, "wv_alloc_mr");
	return mr;
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 2 ? number(argv[1], 1) * KILOBYTE : 0;
	uint64_t began = clock_ns(), opened, done;
	struct start start = {0};
	struct ibv_mr *mr;

	if (!bytes) {
		fputs("usage: registered KILOBYTES\n", stderr);
		return 2;
	}
	start_to_cq(&start);
	opened = clock_ns();
	mr = registered(start.pd, bytes);
	done = clock_ns();
	for (size_t i = 0; i < bytes; i += PAGE)
		((volatile char *)mr->addr)[i] = 1;
	printf("register %lu\ntouch %lu\nstart %lu\n", (unsigned long)(done - opened),
	       (unsigned long)(clock_ns() - done), (unsigned long)(done - began));
	return fflush(stdout) ? 1 : 0;
}
