/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes to pages that it had before main(), as many times to new ones, and ends. */
#include "measure.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE  4096
#define PAGES 10

static unsigned char made_before[PAGES * PAGE];

__attribute__((constructor)) static void make(void)
{
	memset(made_before, 1, sizeof(made_before));
}

static void touch(volatile unsigned char *pages)
{
	for (int i = 0; i < PAGES; i++)
		pages[i * PAGE]++;
}

int main(void)
{
	void *made_now = mmap(NULL, sizeof(made_before), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made_now == MAP_FAILED)
		give_up(errno, "memory");
	touch(made_before);
	touch(made_now);
	return 0;
}
