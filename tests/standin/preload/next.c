/* SPDX-License-Identifier: BSD-2-Clause */
#include "next.h"

#include "../protocol.h"

#include <dlfcn.h>
#include <stdlib.h>

void *standin_next(void **slot, const char *name)
{
	void *fn = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (!fn) {
		fn = dlsym(RTLD_NEXT, name);
		__atomic_store_n(slot, fn, __ATOMIC_RELAXED);
	}
	return fn;
}

bool standin_active(void)
{
	return getenv(STANDIN_SOCKET) != NULL;
}
