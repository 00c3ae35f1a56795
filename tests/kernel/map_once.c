/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue of an rxe object can be mapped once: the maker of a lease must leave it to the user. */
#include "kernel.h"

#include <sys/mman.h>

static void *map(int ufile, const struct mminfo *queue)
{
	return mmap(NULL, queue->size, PROT_READ | PROT_WRITE, MAP_SHARED, ufile,
		    (off_t)queue->offset);
}

int main(void)
{
	int ufile = open_context();
	struct mminfo queue;
	uint32_t cq;
	void *mapped;

	need_rxe();
	EXPECT(create_cq(ufile, 1, &cq, &queue) == 0 && queue.size > 0);
	mapped = map(ufile, &queue);
	EXPECT(mapped != MAP_FAILED);
	EXPECT(map(ufile, &queue) == MAP_FAILED && errno == EINVAL);
	EXPECT(munmap(mapped, queue.size) == 0);
	EXPECT(map(ufile, &queue) == MAP_FAILED && errno == EINVAL);
	return 0;
}
