/* SPDX-License-Identifier: BSD-2-Clause */
/* What a container runs: from the device list to the first RDMA READ. Prints when that was done. */
#include "start.h"

#include <stdio.h>

int main(void)
{
	static uint8_t memory[8192] __attribute__((aligned(4096)));
	struct start s = {0};

	start_to_init(&s);
	start_read_own(&s, memory, sizeof(memory));
	printf("first_completion %lu\n", (unsigned long)clock_ns());
	return 0;
}
