/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/lease_end.h"

#include "base/base.h"
#include "cmdlog/adopt_memory.h"
#include "preload/core/process.h"
#include "preload/lease/inherit.h"
#include "preload/lease/news.h"
#include "preload/memory/shared_blocks.h"
#include "preload/stock/tickets.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Closes the lease's descriptors that the program never received: they would keep objects of the
 * ufile alive.
 */
static void close_unasked(struct wv_context *c)
{
	if (c->mode != WV_LEASED)
		return;
	for (unsigned int i = 0; i < c->lease.cmdlog->n_fds; i++) {
		if (c->lease.fds[i] < 0 || c->lease.given & (1u << i))
			continue;
		wv_fd_close_private(&c->lease.fds[i]);
		c->files--;
	}
}

static void unmap(uint8_t *from, const uint8_t *to)
{
	if (from < to)
		munmap(from, (size_t)(to - from));
}

/*
 * The provider does not use this memory any more: it frees its queues before it closes a context.
 * What the program has from wv_alloc_mr() is its own until it frees it.
 */
static void unmap_memory(struct wv_context *c)
{
	uint8_t *from = c->lease.memory;

	if (!from)
		return;
	wv_shared_block_forget(from);
	wv_each_step (c->lease.cmdlog, step) {
		uint8_t *at = c->lease.memory + step->new_number;
		size_t bytes;

		if (!wv_lease_is_data(&c->lease, step))
			continue;
		bytes = wv_whole_pages(wv_step_memory_size(step));
		unmap(from, at);
		wv_shared_block_note(at, bytes);
		from = at + bytes;
	}
	unmap(from, c->lease.memory + c->lease.cmdlog->memory);
	c->lease.memory = NULL;
}

/* Nothing more is adopted or recorded, and the daemon knows how it went. */
static void stop(struct wv_context *c)
{
	wv_news_settle(c);
	c->stopped = true;
	close_unasked(c);
}

void wv_lease_end(struct wv_context *c)
{
	stop(c);
	c->pair.id = 0;
	wv_fd_close_private(&c->pair.sock);
	unmap_memory(c);
	wv_inherit_end(c);
	wv_tickets_lose(c);
	wv_fd_close_private(&c->node);
}

void wv_lease_complete(int fd)
{
	struct wv_context *c;

	wv_lock();
	c = wv_context_of(fd);
	if (c)
		stop(c);
	wv_unlock();
}

void wv_lease_give_back(struct wv_context *c, int fd)
{
	if (c->node < 0 || dup3(c->node, fd, O_CLOEXEC) < 0)
		return;
	wv_lease_end(c);
	c->mode = WV_PLAIN;
}

/* The sandbox may forbid to tell the daemon later that a pair outlasts its connection. */
static void settle(struct wv_context *c)
{
	wv_news_settle(c);
	if (c->pair.id && c->pair.closed)
		c->pair.closed(c, c->sock >= 0 ? c->sock : c->pair.sock);
	c->pair.closed = NULL;
}

void wv_lease_settle_all(void)
{
	if (!wv_context_after(NULL) || wv_try_lock())
		return;
	wv_each_context(c) if (c->files && wv_process_is_mine()) settle(c);
	wv_unlock();
}

void wv_lease_settle_at_exit(void)
{
	if (!wv_context_after(NULL) || wv_try_lock())
		return;
	wv_each_context(c) if (c->files && wv_process_is_mine()) wv_news_settle_at_exit(c);
	wv_unlock();
}
