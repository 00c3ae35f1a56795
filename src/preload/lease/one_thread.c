/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/one_thread.h"

#include "preload/core/context.h"
#include "preload/providers.h"

/* The functions of the provider whose context was opened first; all its contexts have the same. */
static struct functions {
	__typeof__(((struct verbs_context *)NULL)->create_cq_ex) create_cq_ex;
	__typeof__(((struct verbs_context *)NULL)->alloc_parent_domain) alloc_parent_domain;
} behind;

void wv_one_thread_note(const struct ibv_context *verbs)
{
	struct wv_context *c;

	wv_lock();
	c = wv_context_of(verbs->cmd_fd);
	if (c)
		__atomic_store_n(&c->many_threads, false, __ATOMIC_RELAXED);
	wv_unlock();
}

void wv_one_thread_note_cq(const struct ibv_context *verbs, const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		wv_one_thread_note(verbs);
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *verbs, struct ibv_cq_init_attr_ex *attr)
{
	wv_one_thread_note_cq(verbs, attr);
	return behind.create_cq_ex(verbs, attr);
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *verbs,
					  struct ibv_parent_domain_init_attr *attr)
{
	wv_one_thread_note(verbs);
	return behind.alloc_parent_domain(verbs, attr);
}

static bool same(const struct functions *a, const struct functions *b)
{
	return a->create_cq_ex == b->create_cq_ex &&
	       a->alloc_parent_domain == b->alloc_parent_domain;
}

/* False: the provider is another one than that of the first context, or lacks a verb. */
static bool take_over(struct verbs_context *own)
{
	struct functions functions = {own->create_cq_ex, own->alloc_parent_domain};
	bool fits;

	wv_lock();
	if (!behind.create_cq_ex && functions.create_cq_ex && functions.alloc_parent_domain)
		behind = functions;
	fits = same(&functions, &behind);
	wv_unlock();
	if (!fits)
		return false;
	own->create_cq_ex = create_cq_ex;
	own->alloc_parent_domain = alloc_parent_domain;
	return true;
}

void wv_one_thread_watch(struct ibv_context *verbs, struct wv_context *c)
{
	const struct wv_provider *provider = wv_provider_find(c->driver_id);
	struct verbs_context *own = verbs_get_ctx(verbs);
	bool told = provider && provider->is_for_one_thread && provider->is_for_one_thread();

	__atomic_store_n(&c->many_threads, !told && own && take_over(own), __ATOMIC_RELAXED);
}

bool wv_one_thread_is_not_told(int fd)
{
	struct wv_fd_entry file = wv_fd_get(fd);

	return file.kind == WV_FD_COMMAND &&
	       __atomic_load_n(&wv_context_at(file.context)->many_threads, __ATOMIC_RELAXED);
}
