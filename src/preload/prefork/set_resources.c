#include "preload/prefork/set_resources.h"

#include "preload/core/context.h"
#include "preload/core/fd_table.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

__thread struct wv_resources *wv_making;

/* Half of the numbers that a program may have are left to it. */
static bool is_scarce(int fd)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd > limit.rlim_cur / 2;
}

void wv_resources_add_fd(struct wv_resources *holding, int fd)
{
	if (holding->n_fds == WV_RESOURCES_FDS) {
		holding->lost = true;
		return;
	}
	holding->lost |= is_scarce(fd);
	wv_lock();
	if (wv_fd_get(fd).kind == WV_FD_NONE)
		wv_fd_track(fd, (struct wv_fd_entry){.kind = WV_FD_PRIVATE});
	holding->fds[holding->n_fds++] = fd;
	wv_unlock();
}

static size_t length(const struct wv_range *range)
{
	return range->end - range->start;
}

static void advise(const struct wv_range *range, int advice)
{
	if (range->kind != WV_RANGE_IO)
		madvise((void *)range->start, length(range), advice);
}

/* The kernel maps downwards, side by side: most of a set ends as one range. */
static bool extend(struct wv_range *range, uintptr_t start, uintptr_t end, enum wv_range_kind kind)
{
	if (range->kind != kind || (end != range->start && start != range->end))
		return false;
	if (end == range->start)
		range->start = start;
	else
		range->end = end;
	return true;
}

static void append(struct wv_resources *holding, struct wv_range range)
{
	struct wv_range *more =
	    reallocarray(holding->ranges, holding->n_ranges + 1u, sizeof(range));

	if (!more) {
		holding->lost = true;
		return;
	}
	holding->ranges = more;
	holding->ranges[holding->n_ranges++] = range;
}

void wv_resources_add_range(struct wv_resources *holding, void *at, size_t bytes,
			    enum wv_range_kind kind)
{
	struct wv_range range = {(uintptr_t)at, (uintptr_t)at + bytes, kind};

	advise(&range, MADV_DONTFORK);
	for (unsigned int i = 0; i < holding->n_ranges; i++)
		if (extend(&holding->ranges[i], range.start, range.end, kind))
			return;
	append(holding, range);
}

void wv_resources_offer(const struct wv_resources *holding)
{
	for (unsigned int i = 0; i < holding->n_ranges; i++)
		advise(&holding->ranges[i], MADV_DOFORK);
}

void wv_resources_withhold(const struct wv_resources *holding)
{
	for (unsigned int i = 0; i < holding->n_ranges; i++)
		advise(&holding->ranges[i], MADV_DONTFORK);
}

void wv_resources_give_fds(const struct wv_resources *holding)
{
	for (unsigned int i = 0; i < holding->n_fds; i++)
		if (wv_fd_get(holding->fds[i]).kind == WV_FD_PRIVATE)
			wv_fd_untrack(holding->fds[i]);
}

bool wv_resources_lose_fd(struct wv_resources *holding, int fd)
{
	for (unsigned int i = 0; i < holding->n_fds; i++) {
		if (holding->fds[i] != fd)
			continue;
		holding->fds[i] = -1;
		holding->closed = holding->lost = true;
		return true;
	}
	return false;
}

void wv_resources_part_from_queues(const struct wv_resources *holding)
{
	for (unsigned int i = 0; i < holding->n_ranges; i++)
		if (holding->ranges[i].kind == WV_RANGE_QUEUES)
			mmap((void *)holding->ranges[i].start, length(&holding->ranges[i]),
			     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			     0);
}

void wv_resources_unmap(const struct wv_resources *holding, unsigned int kinds)
{
	for (unsigned int i = 0; i < holding->n_ranges; i++)
		if (holding->ranges[i].kind & kinds)
			munmap((void *)holding->ranges[i].start, length(&holding->ranges[i]));
}

/* Queues stay: they may be of a lease, whose memory ended with its command descriptor. */
void wv_resources_drop(const struct wv_resources *holding)
{
	for (unsigned int i = 0; i < holding->n_fds; i++)
		if (holding->fds[i] >= 0)
			close(holding->fds[i]);
	wv_resources_unmap(holding, WV_RANGE_UFILE);
}
