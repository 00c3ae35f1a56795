/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A provider withholds memory from children of fork() (IBV_FORK_SAFE, ibv_fork_init()). Blocks of
 * this library are shared with children on purpose, so they are left out.
 */
#include "base/base.h"
#include "preload/core/lock.h"
#include "preload/core/real.h"
#include "preload/interpose/prepare.h"
#include "preload/memory/shared_blocks.h"

#include <errno.h>
#include <stddef.h>

WV_PUBLIC int ibv_dontfork_range(void *base, size_t size);
WV_PUBLIC int ibv_dofork_range(void *base, size_t size);

/* libibverbs is still called, with size 0, because it notes any call before ibv_fork_init(). */
static size_t not_ours(const void *base, size_t size)
{
	bool ours;

	wv_prepare();
	wv_lock();
	ours = wv_shared_block_holds(base);
	wv_unlock();
	return ours ? 0 : size;
}

WV_PUBLIC int ibv_dontfork_range(void *base, size_t size)
{
	const struct wv_real *real = wv_real_memory_verbs();

	return real->dontfork_range ? real->dontfork_range(base, not_ours(base, size)) : ENOSYS;
}

WV_PUBLIC int ibv_dofork_range(void *base, size_t size)
{
	const struct wv_real *real = wv_real_memory_verbs();

	return real->dofork_range ? real->dofork_range(base, not_ours(base, size)) : ENOSYS;
}
