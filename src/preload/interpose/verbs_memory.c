/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs about memory. Registration is interposed for a trace, and for WARMVERBS_SHARE_MR. The last
 * two are what a provider withholds memory from children of fork() by (IBV_FORK_SAFE,
 * ibv_fork_init()): blocks of this library are shared with children on purpose, so they are left
 * out.
 */
#include "base/base.h"
#include "preload/core/lock.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/interpose/prepare.h"
#include "preload/memory/shared_blocks.h"
#include "preload/memory/shared_mr.h"
#include "preload/memory/stale_mr.h"
#include "preload/spares/spares.h"

#include <errno.h>
#include <infiniband/verbs.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

WV_PUBLIC struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *at, size_t bytes, int access);
WV_PUBLIC struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *at, size_t bytes, uint64_t iova,
					 int access);
WV_PUBLIC struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *at, size_t bytes, uint64_t iova,
					  unsigned int access);
WV_PUBLIC int ibv_dereg_mr(struct ibv_mr *mr);
WV_PUBLIC int ibv_dontfork_range(void *base, size_t size);
WV_PUBLIC int ibv_dofork_range(void *base, size_t size);

/* A registration that is under way. */
struct registration {
	bool watched;
	struct wv_shared_mr *share;
};

static __thread bool nested; /* libibverbs calls one of these functions from another */

static bool is_watched(void)
{
	return wv_settings()->share_mr || wv_settings()->trace;
}

static struct registration begin(void *at, size_t bytes, unsigned int access)
{
	struct registration r = {.watched = !nested && is_watched()};

	if (!r.watched)
		return r;
	wv_prepare();
	if (wv_settings()->share_mr && !(access & IBV_ACCESS_ON_DEMAND))
		r.share = wv_shared_mr_take(at, bytes);
	nested = true;
	return r;
}

static struct ibv_mr *end(const struct registration *r, struct ibv_mr *mr)
{
	if (!r->watched)
		return mr;
	nested = false;
	wv_shared_mr_keep(r->share, mr);
	if (mr)
		wv_stale_mr_note(mr);
	return mr;
}

/* Defines ibv_NAME(), which registers memory. Older libraries lack some of these verbs. */
#define REGISTER(name, params, args)                                                               \
	WV_PUBLIC struct ibv_mr *ibv_##name params                                                 \
	{                                                                                          \
		__typeof__(wv_real.name) real = wv_real_memory_verbs()->name;                      \
		struct registration r;                                                             \
                                                                                                   \
		if (!real) {                                                                       \
			errno = ENOSYS;                                                            \
			return NULL;                                                               \
		}                                                                                  \
		r = begin(at, bytes, (unsigned int)access);                                        \
		return end(&r, WV_WITH_ROOM(pd->context, real args));                              \
	}

REGISTER(reg_mr, (struct ibv_pd * pd, void *at, size_t bytes, int access), (pd, at, bytes, access))
REGISTER(reg_mr_iova, (struct ibv_pd * pd, void *at, size_t bytes, uint64_t iova, int access),
	 (pd, at, bytes, iova, access))
REGISTER(reg_mr_iova2,
	 (struct ibv_pd * pd, void *at, size_t bytes, uint64_t iova, unsigned int access),
	 (pd, at, bytes, iova, access))

static int deregister(struct ibv_mr *mr, int (*real)(struct ibv_mr *))
{
	/* Looked up before, because another MR may have this address as soon as @mr has ended. */
	struct wv_shared_mr *share = wv_shared_mr_of(mr);
	int result;

	wv_stale_mr_forget(mr);
	result = real(mr);
	wv_shared_mr_keep(share, result ? mr : NULL);
	if (result)
		wv_stale_mr_note(mr);
	return result;
}

WV_PUBLIC int ibv_dereg_mr(struct ibv_mr *mr)
{
	__typeof__(wv_real.dereg_mr) real = wv_real_memory_verbs()->dereg_mr;

	if (!real)
		return ENOSYS;
	return is_watched() ? deregister(mr, real) : real(mr);
}

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
