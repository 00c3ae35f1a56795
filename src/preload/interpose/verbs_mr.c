/* SPDX-License-Identifier: BSD-2-Clause */
/* Registration of memory: interposed for a trace, and for WARMVERBS_SHARE_MR. */
#include "base/base.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/interpose/prepare.h"
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

struct registration {
	struct ibv_pd *pd;
	void *at;
	size_t bytes;
	uint64_t iova;
	unsigned int access;
};

/* Result of a verb that libibverbs does not have. */
static void *lacking(void)
{
	errno = ENOSYS;
	return NULL;
}

static struct ibv_mr *plain(const struct registration *r)
{
	__typeof__(wv_real.reg_mr) real = wv_real_memory_verbs()->reg_mr;

	return real ? real(r->pd, r->at, r->bytes, (int)r->access) : lacking();
}

static struct ibv_mr *iova(const struct registration *r)
{
	__typeof__(wv_real.reg_mr_iova) real = wv_real_memory_verbs()->reg_mr_iova;

	return real ? real(r->pd, r->at, r->bytes, r->iova, (int)r->access) : lacking();
}

static struct ibv_mr *iova2(const struct registration *r)
{
	__typeof__(wv_real.reg_mr_iova2) real = wv_real_memory_verbs()->reg_mr_iova2;

	return real ? real(r->pd, r->at, r->bytes, r->iova, r->access) : lacking();
}

static bool is_watched(void)
{
	return wv_settings()->share_mr || wv_settings()->trace;
}

static struct ibv_mr *register_memory(struct ibv_mr *(*real)(const struct registration *),
				      const struct registration *r)
{
	static __thread bool nested; /* libibverbs calls one of these functions from another */
	struct wv_shared_mr *share = NULL;
	struct ibv_mr *mr;

	if (nested)
		return real(r);
	if (!is_watched())
		return WV_WITH_ROOM(real(r));
	wv_prepare();
	wv_real_memory_verbs(); /* bound before a lock is taken */
	if (wv_settings()->share_mr && !(r->access & IBV_ACCESS_ON_DEMAND))
		share = wv_shared_mr_take(r->at, r->bytes);
	nested = true;
	mr = WV_WITH_ROOM(real(r));
	nested = false;
	wv_shared_mr_keep(share, mr);
	if (mr)
		wv_stale_mr_note(mr);
	return mr;
}

WV_PUBLIC struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *at, size_t bytes, int access)
{
	return register_memory(plain,
			       &(struct registration){pd, at, bytes, 0, (unsigned int)access});
}

WV_PUBLIC struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *at, size_t bytes, uint64_t where,
					 int access)
{
	return register_memory(iova,
			       &(struct registration){pd, at, bytes, where, (unsigned int)access});
}

WV_PUBLIC struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *at, size_t bytes, uint64_t where,
					  unsigned int access)
{
	return register_memory(iova2, &(struct registration){pd, at, bytes, where, access});
}

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
