/*
 * What a provider wants children of fork() not to have (IBV_FORK_SAFE, ibv_fork_init()): ours is
 * shared with them on purpose, and is safe because it is.
 */
#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/memory/shared_blocks.h"

#include <errno.h>
#include <stddef.h>

WV_PUBLIC int ibv_dontfork_range(void *base, size_t size);
WV_PUBLIC int ibv_dofork_range(void *base, size_t size);

/* libibverbs is asked about nothing then, for it notes that it was asked before ibv_fork_init(). */
static size_t not_ours(const void *base, size_t size)
{
	bool ours;

	wv_context_prepare();
	wv_lock();
	ours = wv_shared_block_holds(base);
	wv_unlock();
	return ours ? 0 : size;
}

static int pass_on(const char *name, void *base, size_t size)
{
	int (*real)(void *, size_t) = real_verb(name, "IBVERBS_1.1");

	return real ? real(base, not_ours(base, size)) : ENOSYS;
}

WV_PUBLIC int ibv_dontfork_range(void *base, size_t size)
{
	return pass_on("ibv_dontfork_range", base, size);
}

WV_PUBLIC int ibv_dofork_range(void *base, size_t size)
{
	return pass_on("ibv_dofork_range", base, size);
}
