/* SPDX-License-Identifier: BSD-2-Clause */
#include "failing.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

static unsigned int due; /* allocations until the one that fails; 0: none fails */

void failing_begin(unsigned int n)
{
	__atomic_store_n(&due, n, __ATOMIC_RELAXED);
}

bool failing_end(void)
{
	return !__atomic_exchange_n(&due, 0, __ATOMIC_RELAXED);
}

/* Counts an allocation. True: it fails. */
static bool fails(void)
{
	unsigned int left = __atomic_load_n(&due, __ATOMIC_RELAXED);

	while (left && !__atomic_compare_exchange_n(&due, &left, left - 1, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED))
		;
	if (left == 1)
		errno = ENOMEM;
	return left == 1;
}

/* The next library's function of that name: libc's, or a sanitizer's. */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) next_;                                                    \
		if (!next_)                                                                        \
			next_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                        \
		next_;                                                                             \
	})

#define VISIBLE __attribute__((visibility("default")))

VISIBLE void *malloc(size_t bytes)
{
	return fails() ? NULL : NEXT(malloc)(bytes);
}

VISIBLE void *calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : NEXT(calloc)(n, bytes);
}

VISIBLE void *realloc(void *memory, size_t bytes)
{
	return fails() ? NULL : NEXT(realloc)(memory, bytes);
}

VISIBLE int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	return fails() ? ENOMEM : NEXT(posix_memalign)(memory, alignment, bytes);
}
