/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/process.h"

#include "base/base.h"

#include <sys/mman.h>
#include <unistd.h>

static pid_t owner WV_HOT;
static bool *mark; /* in a page that the kernel clears in every child with memory of its own */

static bool *make_mark(void)
{
	size_t bytes = wv_page_size();
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	if (!madvise(at, bytes, MADV_WIPEONFORK))
		return at;
	munmap(at, bytes);
	return NULL;
}

void wv_process_adopt(void)
{
	bool *made = mark ? mark : make_mark();

	__atomic_store_n(&owner, getpid(), __ATOMIC_RELAXED);
	if (made)
		__atomic_store_n(made, true, __ATOMIC_RELAXED);
	__atomic_store_n(&mark, made, __ATOMIC_RELEASE);
}

bool wv_process_is_adopted(void)
{
	const bool *made = __atomic_load_n(&mark, __ATOMIC_ACQUIRE);

	return made ? __atomic_load_n(made, __ATOMIC_RELAXED) : wv_process_is_mine();
}

bool wv_process_is_mine(void)
{
	pid_t adopted = __atomic_load_n(&owner, __ATOMIC_RELAXED);

	return adopted && adopted == getpid();
}
