/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers for data that the provider allocates (rdma-core 65 and later). libmlx5 takes them from
 * the allocator of its queues (buf.c), which cannot tell them apart: it would give them memory that
 * a lease has for a queue, and that children of fork() share.
 */
#include "base/base.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define LIBRARY "libibverbs.so.1"
#define VERSION "IBVERBS_1.17"

struct ibv_buf; /* not in older headers */

WV_PUBLIC void *ibv_alloc_buf(struct ibv_pd *pd, size_t bytes, struct ibv_buf **buf);
WV_PUBLIC void ibv_free_buf(struct ibv_buf *buf);

WV_PUBLIC void *ibv_alloc_buf(struct ibv_pd *pd, size_t bytes, struct ibv_buf **buf)
{
	__typeof__(&ibv_alloc_buf) real = wv_real_symbol(LIBRARY, "ibv_alloc_buf", VERSION);
	void *at;

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	wv_scope.data = true;
	at = real(pd, bytes, buf);
	wv_scope.data = false;
	return at;
}

WV_PUBLIC void ibv_free_buf(struct ibv_buf *buf)
{
	__typeof__(&ibv_free_buf) real = wv_real_symbol(LIBRARY, "ibv_free_buf", VERSION);

	wv_scope.data = true;
	if (real)
		real(buf);
	wv_scope.data = false;
}
