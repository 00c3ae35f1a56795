#include "preload/core/context.h"

#include "base/base.h"
#include "preload/client/lease_request.h"
#include "preload/client/open_outcome.h"
#include "preload/client/pool_request.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"
#include "preload/core/settings.h"
#include "preload/interpose/fork.h"
#include "preload/lease/inherit.h"
#include "preload/memory/shared_blocks.h"
#include "preload/memory/stale_mr.h"
#include "preload/mlx5/doorbell_records.h"
#include "preload/prefork/child.h"
#include "preload/prefork/fill_thread.h"
#include "preload/prefork/set_resources.h"
#include "preload/prefork/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_CONTEXTS 256

uint32_t wv_births WV_HOT;

static struct wv_context *contexts[MAX_CONTEXTS];
static pthread_mutex_t lock WV_HOT = PTHREAD_MUTEX_INITIALIZER;

void wv_lock(void)
{
	pthread_mutex_lock(&lock);
}

void wv_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static void drop_constants(struct wv_context *c)
{
	free(c->constants.cmdlog);
	c->constants.cmdlog = NULL;
}

void wv_context_share_leases(void)
{
	for (unsigned int i = 0; i < MAX_CONTEXTS && contexts[i]; i++)
		wv_inherit_lease(contexts[i]);
}

void wv_context_leave_parent(void)
{
	wv_fd_table_adopt_process();
	wv_births++;
	for (unsigned int i = 0; i < MAX_CONTEXTS && contexts[i]; i++) {
		if (contexts[i]->parted)
			contexts[i]->parted = false;
		wv_stale_mr_watch(contexts[i]->verbs);
		wv_fd_close_private(&contexts[i]->sock);
		wv_fd_close_private(&contexts[i]->node);
	}
	wv_client_forget_request();
	wv_dbrec_forked();
	wv_stale_mr_forked();
	wv_open_outcome_forget();
	wv_pool_request_forget();
}

static void prepare(void)
{
	real_bind();
	wv_forks_prepare();
}

void wv_context_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare);
}

/*
 * Most programs open one device: its context costs no system call. All others are in one mapping,
 * for which fork() has to do less than for many.
 */
static struct wv_context *memory_for(uint16_t index)
{
	static struct wv_context first, *others;

	if (!index)
		return &first;
	if (!others)
		others = mmap(NULL, (MAX_CONTEXTS - 1) * sizeof(*others), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (others == MAP_FAILED)
		others = NULL;
	return others ? &others[index - 1] : NULL;
}

static struct wv_context *find_unused(void)
{
	for (uint16_t i = 0; i < MAX_CONTEXTS; i++) {
		if (contexts[i] && contexts[i]->files)
			continue;
		if (!contexts[i])
			contexts[i] = memory_for(i);
		if (contexts[i])
			contexts[i]->index = i;
		return contexts[i];
	}
	return NULL;
}

struct wv_context *wv_context_new(enum wv_mode mode)
{
	struct wv_context *c = find_unused();

	if (!c)
		return NULL;
	c->mode = (uint8_t)mode;
	c->stopped = mode == WV_PLAIN;
	c->birth = wv_births;
	c->opening = wv_opening;
	c->in_set = wv_making;
	c->lease.memory = NULL;
	drop_constants(c);
	if (c->allocations)
		c->allocations->n = 0;
	c->own = (struct wv_allocators){.placed = false};
	c->verbs = NULL;
	c->spares = NULL;
	c->parted = false;
	c->commands = 0;
	c->ufile = c->sock = c->node = -1;
	c->no_lease = c->driver_id = 0;
	memset(&c->report, 0, sizeof(c->report));
	memset(c->put_back, 0, sizeof(c->put_back));
	return c;
}

struct wv_context *wv_context_at(uint16_t index)
{
	return contexts[index];
}

struct wv_context *wv_context_of(int fd)
{
	struct wv_fd_entry file = wv_fd_get(fd);

	return file.kind == WV_FD_COMMAND ? contexts[file.context] : NULL;
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
	if (kind == WV_FD_COMMAND) {
		if (!c->commands++)
			c->ufile = fd;
	}
	return true;
}

void wv_context_settle(struct wv_context *c)
{
	int saved = errno;

	if (c->sock < 0)
		return;
	if (c->mode == WV_RECORDING)
		wv_client_send_record(c->sock, &c->provider, c->record.cmdlog);
	else if (c->mode == WV_LEASED)
		wv_client_send_report(c->sock, &c->report, &c->lease);
	wv_fd_close_private(&c->sock);
	if (c->mode == WV_RECORDING)
		c->stopped = true;
	errno = saved;
}

/* A program that never closes its device ends all the same. */
__attribute__((destructor)) static void settle_all(void)
{
	if (!contexts[0] || !wv_fd_table_is_mine())
		return;
	wv_child_end();
	if (pthread_mutex_trylock(&lock))
		return;
	for (unsigned int i = 0; i < MAX_CONTEXTS && contexts[i]; i++)
		if (contexts[i]->files)
			wv_context_settle(contexts[i]);
	pthread_mutex_unlock(&lock);
}

/* Descriptors of the lease that the program never received would keep the ufile's objects alive. */
static void close_unasked(struct wv_context *c)
{
	if (c->mode != WV_LEASED)
		return;
	for (unsigned int i = 0; i < c->lease.cmdlog->n_fds; i++) {
		if (c->lease.fds[i] < 0 || c->lease.given & (1u << i))
			continue;
		wv_fd_untrack(c->lease.fds[i]);
		c->files--;
		close(c->lease.fds[i]);
		c->lease.fds[i] = -1;
	}
}

/* The provider has given its queues back before it closes (libmlx5's mlx5_free_context()). */
static void unmap_memory(struct wv_context *c)
{
	if (!c->lease.memory)
		return;
	wv_shared_block_forget(c->lease.memory);
	munmap(c->lease.memory, c->lease.cmdlog->memory);
	c->lease.memory = NULL;
}

static void end_lease(struct wv_context *c)
{
	wv_context_settle(c);
	c->stopped = true;
	close_unasked(c);
	unmap_memory(c);
	wv_inherit_end(c);
}

void wv_context_complete(int fd)
{
	struct wv_context *c;

	wv_lock();
	c = wv_context_of(fd);
	if (c) {
		wv_context_settle(c);
		c->stopped = true;
		close_unasked(c);
	}
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

bool wv_context_is_seen(int fd)
{
	const struct wv_context *c;
	bool seen;

	wv_lock();
	c = wv_context_of(fd);
	seen = c && c->driver_id;
	wv_unlock();
	return seen;
}

uint32_t wv_context_open_number(int fd)
{
	const struct wv_context *c;
	uint32_t number;

	wv_lock();
	c = wv_context_of(fd);
	number = c ? c->open_number : 0;
	wv_unlock();
	return number;
}

static void last_command_closed(struct wv_context *c)
{
	end_lease(c);
	wv_fd_close_private(&c->node);
	c->ufile = -1;
}

void wv_context_keep_lease(struct wv_context *c)
{
	wv_fd_close_private(&c->node);
}

void wv_context_give_back(struct wv_context *c, int fd)
{
	if (c->node < 0 || real_dup3(c->node, fd, O_CLOEXEC) < 0)
		return;
	end_lease(c);
	wv_fd_close_private(&c->node);
	c->mode = WV_PLAIN;
}

static void forget_number(struct wv_context *c, struct wv_fd_entry file, int fd)
{
	c->files--;
	if (fd == c->ufile)
		c->verbs = NULL;
	if (file.kind == WV_FD_EVENTS && c->lease.fds[file.slot] == fd)
		wv_lease_kill_slot(&c->lease, file.slot);
	else if (file.kind == WV_FD_COMMAND && !--c->commands)
		last_command_closed(c);
}

/* The program closed a descriptor that it does not know is ours, as daemons do. */
static void forget_private(int fd)
{
	for (unsigned int i = 0; i < MAX_CONTEXTS && contexts[i]; i++) {
		if (contexts[i]->sock == fd)
			contexts[i]->sock = -1;
		if (contexts[i]->node == fd)
			contexts[i]->node = -1;
	}
	wv_client_forget_fd(fd);
	wv_pool_request_forget_fd(fd);
	wv_settings_forget_fd(fd);
	wv_fill_thread_forget_fd(fd);
}

/* Made ahead, for this process to take or for its children. */
static bool is_of_set(struct wv_fd_entry file)
{
	return file.kind == WV_FD_PRIVATE || contexts[file.context]->in_set;
}

void wv_context_close(int fd)
{
	struct wv_fd_entry file = wv_fd_get(fd);
	int saved = errno;

	if (file.kind == WV_FD_NONE || !wv_fd_table_is_mine())
		return;
	if (is_of_set(file))
		wv_zygote_lose_fd(fd);
	wv_lock();
	file = wv_fd_untrack(fd);
	if (file.kind == WV_FD_PRIVATE)
		forget_private(fd);
	else if (file.kind != WV_FD_NONE)
		forget_number(contexts[file.context], file, fd);
	wv_unlock();
	errno = saved;
}

void wv_context_dup(int fd, int copy)
{
	struct wv_fd_entry file = wv_fd_get(fd);

	if (copy < 0 || (file.kind != WV_FD_COMMAND && file.kind != WV_FD_EVENTS) ||
	    !wv_fd_table_is_mine())
		return;
	wv_lock();
	wv_context_track(contexts[file.context], copy, file.kind, file.slot);
	wv_unlock();
}
