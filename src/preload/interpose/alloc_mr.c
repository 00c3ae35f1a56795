/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions for memory that is registered from the beginning. */
#include "base/base.h"
#include "preload/core/scope.h"
#include "preload/interpose/prepare.h"
#include "preload/memory/lease_memory.h"
#include "preload/memory/shared_blocks.h"
#include "warmverbs.h"

#include <errno.h>
#include <infiniband/verbs.h>

#undef ibv_reg_mr

/* NULL: the library does not follow what the program does with its device. */
static struct wv_context *context_of(const struct ibv_context *verbs)
{
	return wv_context_of(verbs->cmd_fd);
}

static void free_block(struct wv_context *c, void *at)
{
	if (c)
		wv_lease_memory_free(c, at);
	else
		wv_block_free(at);
}

/* Memory of the lease, if it may have it (@ahead), or else new memory. NULL: there is none. */
static void *new_block(struct wv_context *c, size_t bytes, int access, bool ahead)
{
	void *at = ahead ? wv_lease_memory_for_data(c, bytes, access) : NULL;

	if (at)
		return at;
	at = wv_shared_block_new(bytes);
	if (at && ahead)
		wv_lease_memory_note(c, at, wv_whole_pages(bytes));
	return at;
}

static struct ibv_mr *register_block(struct ibv_pd *pd, void *at, size_t bytes, int access,
				     bool ahead)
{
	struct ibv_mr *mr;

	wv_scope.alloc_mr = ahead;
	errno = 0;
	mr = ibv_reg_mr(pd, at, bytes, access);
	wv_scope.alloc_mr = false;
	return mr;
}

static int alloc_mr(struct ibv_pd *pd, size_t bytes, int access, struct ibv_mr **mr)
{
	struct wv_context *c = context_of(pd->context);
	bool ahead = c && wv_lease_memory_admits(c, bytes, access);
	void *at = new_block(c, bytes, access, ahead);
	int err;

	if (!at)
		return ENOMEM;
	*mr = register_block(pd, at, bytes, access, ahead);
	if (*mr)
		return 0;
	err = errno ? errno : ENOMEM;
	free_block(c, at);
	return err;
}

WV_PUBLIC int wv_alloc_mr(struct ibv_pd *pd, size_t bytes, int access, struct ibv_mr **mr)
{
	int saved = errno, err;

	if (!pd || !bytes || !mr)
		return EINVAL;
	wv_prepare();
	err = alloc_mr(pd, bytes, access, mr);
	errno = saved;
	return err;
}

WV_PUBLIC int wv_free_mr(struct ibv_mr *mr)
{
	int saved = errno, err;
	struct wv_context *c;
	void *at;

	if (!mr)
		return 0;
	at = mr->addr;
	c = context_of(mr->context);
	err = ibv_dereg_mr(mr);
	if (!err)
		free_block(c, at);
	errno = saved;
	return err;
}
