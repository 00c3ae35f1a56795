/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/inherit.h"

#include <string.h>
#include <sys/mman.h>

/* Memory shared by all processes that have the lease. */
struct wv_inheritance {
	struct wv_lease_qps qps;
	_Alignas(8) uint8_t cmdlog[];
};

/* How far a pair has come is to be known in both processes, whatever is left to adopt. */
static bool is_anything_left(const struct wv_context *c)
{
	if (c->mode != WV_LEASED || !c->files)
		return false;
	if (c->pair.id)
		return true;
	if (c->stopped)
		return false;
	wv_each_step (c->lease.cmdlog, step)
		if (step->state == WV_FREE)
			return true;
	return false;
}

static void inherit(struct wv_context *c)
{
	size_t bytes = sizeof(*c->inheritance);
	struct wv_inheritance *shared;

	if (c->inheritance || !is_anything_left(c))
		return;
	bytes += c->lease.cmdlog->bytes;
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (shared == MAP_FAILED) {
		c->stopped = true;
		return;
	}
	shared->qps = *c->qps;
	c->qps = &shared->qps;
	memcpy(shared->cmdlog, c->lease.cmdlog, c->lease.cmdlog->bytes);
	wv_lease_move(&c->lease, (struct wv_cmdlog *)shared->cmdlog);
	c->inheritance = shared;
}

void wv_inherit_leases(void)
{
	wv_each_context(c) inherit(c);
}

void wv_inherit_end(struct wv_context *c)
{
	size_t bytes = sizeof(*c->inheritance);

	if (!c->inheritance)
		return;
	bytes += c->lease.cmdlog->bytes;
	memcpy(c->message, c->lease.cmdlog, c->lease.cmdlog->bytes);
	wv_lease_move(&c->lease, (struct wv_cmdlog *)c->message);
	c->qps = &c->own_qps;
	munmap(c->inheritance, bytes);
	c->inheritance = NULL;
}
