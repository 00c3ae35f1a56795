/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/prefork_shm.h"

#include <stddef.h>
#include <sys/mman.h>

struct wv_prefork_shm *wv_prefork_shm_new(void)
{
	void *memory = mmap(NULL, sizeof(struct wv_prefork_shm), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}
