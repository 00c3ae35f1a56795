/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/context.h"

#include "base/base.h"
#include "preload/core/process.h"
#include "preload/core/real.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint32_t wv_births WV_HOT;

/*
 * Most programs open one device: its context costs no system call. All other contexts are in one
 * mapping, because fork() costs more for each mapping.
 */
static struct wv_context first WV_COLD(0), *others;
static uint16_t n_contexts WV_START; /* that were ever in use */

struct wv_context *wv_context_at(uint16_t index)
{
	return index ? &others[index - 1] : &first;
}

struct wv_context *wv_context_after(const struct wv_context *c)
{
	unsigned int next = c ? c->index + 1u : 0;

	return next < n_contexts ? wv_context_at((uint16_t)next) : NULL;
}

static bool make_others(void)
{
	if (!others)
		others = mmap(NULL, (WV_MAX_CONTEXTS - 1) * sizeof(*others), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (others == MAP_FAILED)
		others = NULL;
	return others;
}

static struct wv_context *find_unused(void)
{
	struct wv_context *c;

	wv_each_context(used_once) if (!used_once->files) return used_once;
	if (n_contexts == WV_MAX_CONTEXTS || (n_contexts && !make_others()))
		return NULL;
	c = wv_context_at(n_contexts);
	c->index = n_contexts++;
	return c;
}

static void drop_constants(struct wv_context *c)
{
	free(c->constants);
	c->constants = NULL;
}

struct wv_context *wv_context_new(const struct wv_scope *scope, void (*end)(struct wv_context *c))
{
	struct wv_context *c = find_unused();

	if (!c)
		return NULL;
	drop_constants(c);
	memset(c, 0, offsetof(struct wv_context, index));
	c->stopped = true;
	c->birth = wv_births;
	c->opening = scope->opening;
	c->owner = scope->maker ? scope->maker->owner : NULL;
	c->end = end;
	c->ufile = c->sock = c->node = c->pair.sock = -1;
	c->qps = &c->own_qps;
	__atomic_store_n(&c->spares, 0, __ATOMIC_RELAXED);
	if (c->allocations)
		c->allocations->n = 0;
	return c;
}

struct wv_context *wv_context_of(int fd)
{
	struct wv_fd_entry file = wv_fd_get(fd);

	return file.kind == WV_FD_COMMAND ? wv_context_at(file.context) : NULL;
}

void wv_context_opened(struct wv_context *c)
{
	c->opening = c->lease.opening = false;
	drop_constants(c);
}

bool wv_context_track(struct wv_context *c, int fd, enum wv_fd_kind kind, unsigned int slot)
{
	struct wv_fd_entry file = {
	    .kind = (uint8_t)kind, .slot = (uint8_t)slot, .context = c->index};

	if (!wv_fd_track(fd, file))
		return false;
	c->files++;
	if (kind == WV_FD_COMMAND && !c->commands++)
		c->ufile = fd;
	return true;
}

/* The program closed a descriptor that it does not know, as programs do that become daemons. */
static void private_closed(int fd)
{
	wv_each_context(c)
	{
		if (c->pair.id && c->pair.closed && (c->sock == fd || c->pair.sock == fd))
			c->pair.closed(c, fd);
		if (c->sock == fd)
			c->sock = -1;
		if (c->node == fd)
			c->node = -1;
		if (c->pair.sock == fd)
			c->pair.sock = -1;
	}
}

void wv_context_hide_fd(int fd)
{
	static const struct wv_fd_owner owner = {.closed = private_closed};

	wv_fd_hide(fd, &owner);
}

static void forget_number(struct wv_context *c, struct wv_fd_entry file, int fd)
{
	c->files--;
	if (fd == c->ufile)
		c->verbs = NULL;
	if (file.kind == WV_FD_EVENTS && c->lease.fds[file.slot] == fd)
		wv_lease_kill_slot(&c->lease, file.slot);
	else if (file.kind == WV_FD_COMMAND && !--c->commands) {
		c->end(c);
		c->ufile = -1;
	}
}

/* Who is to be told before @fd is closed, or NULL. */
static const struct wv_fd_owner *watcher_of(struct wv_fd_entry file)
{
	const struct wv_fd_owner *owner;

	if (file.kind == WV_FD_NONE)
		return NULL;
	owner = file.kind == WV_FD_PRIVATE ? wv_fd_owner(file) : wv_context_at(file.context)->owner;
	return owner && owner->closing ? owner : NULL;
}

bool wv_context_is_watched(int fd)
{
	return watcher_of(wv_fd_get(fd)) && wv_process_is_mine();
}

static void forget(int fd)
{
	struct wv_fd_entry file = wv_fd_untrack(fd);

	if (file.kind == WV_FD_PRIVATE && wv_fd_owner(file)->closed)
		wv_fd_owner(file)->closed(fd);
	else if (file.kind == WV_FD_COMMAND || file.kind == WV_FD_EVENTS)
		forget_number(wv_context_at(file.context), file, fd);
}

int wv_context_close_watched(int fd)
{
	const struct wv_fd_owner *watcher = watcher_of(wv_fd_get(fd));
	int result;

	if (!watcher) /* another thread has closed it meanwhile */
		return REAL(close)(fd);
	wv_lock();
	forget(fd);
	wv_fd_hide(fd, watcher);
	wv_unlock();
	result = REAL(close)(fd);
	wv_lock();
	/* Another thread may have opened a device at this number. */
	if (watcher_of(wv_fd_get(fd)) == watcher)
		wv_fd_untrack(fd);
	wv_unlock();
	return result;
}

void wv_context_close(int fd)
{
	struct wv_fd_entry file = wv_fd_get(fd);
	const struct wv_fd_owner *watcher = watcher_of(file);
	int saved = errno;

	if (file.kind == WV_FD_NONE || !wv_process_is_mine())
		return;
	if (watcher)
		watcher->closing(fd);
	wv_lock();
	forget(fd);
	wv_unlock();
	errno = saved;
}

/*
 * The daemon may have executed the command ahead: then @file was tracked before the program's own
 * command named it.
 */
static bool is_of(struct wv_fd_entry file, struct wv_fd_entry by)
{
	return file.kind == WV_FD_EVENTS && by.kind == WV_FD_COMMAND && file.context == by.context;
}

void wv_context_lose_number(int fd, int by)
{
	struct wv_fd_entry file = wv_fd_get(fd);

	if (file.kind == WV_FD_NONE || is_of(file, wv_fd_get(by)))
		return;
	if (file.kind != WV_FD_COMMAND) {
		wv_context_close(fd);
	} else if (wv_process_is_mine()) {
		/* Without the end of its context, which closes and unmaps what may be another's. */
		wv_lock();
		wv_fd_untrack(fd);
		wv_unlock();
	}
}

void wv_context_dup(int fd, int copy)
{
	struct wv_fd_entry file = wv_fd_get(fd);

	if (copy < 0 || (file.kind != WV_FD_COMMAND && file.kind != WV_FD_EVENTS) ||
	    !wv_process_is_mine())
		return;
	wv_lock();
	wv_context_track(wv_context_at(file.context), copy, file.kind, file.slot);
	wv_unlock();
}

void wv_context_abandon(int fd)
{
	struct wv_context *c;

	wv_lock();
	c = wv_context_of(fd);
	if (c)
		c->mode = WV_ABANDONED;
	wv_unlock();
}

struct wv_context_facts wv_context_facts(int fd)
{
	struct wv_context_facts facts = {.is_seen = false};
	const struct wv_context *c;

	wv_lock();
	c = wv_context_of(fd);
	if (c)
		facts = (struct wv_context_facts){.is_seen = c->driver_id,
						  .is_own = !wv_context_is_inherited(c),
						  .open_number = c->open_number};
	wv_unlock();
	return facts;
}

uint32_t wv_context_driver(int fd)
{
	const struct wv_context *c = wv_context_of(fd);

	return c ? __atomic_load_n(&c->driver_id, __ATOMIC_RELAXED) : 0;
}

void wv_contexts_forked(void)
{
	wv_process_adopt();
	wv_births++;
	wv_each_context(c)
	{
		if (c->pair.id && c->sock >= 0) {
			c->pair.sock = c->sock;
			c->sock = -1;
		}
		wv_fd_close_private(&c->sock);
		wv_fd_close_private(&c->node);
	}
}
