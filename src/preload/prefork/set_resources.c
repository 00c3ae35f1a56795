/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/set_resources.h"

#include "abi/abi.h"
#include "preload/core/context.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Leaves the upper half of the descriptor numbers to the program. */
static bool is_scarce(int fd)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd > limit.rlim_cur / 2;
}

static struct wv_set_file file_at(int fd)
{
	struct stat st;
	int flags = 0;

	if (fstat(fd, &st))
		return (struct wv_set_file){.fd = -1};
	/* Anonymous files of all kinds share an inode. */
	if (!S_ISCHR(st.st_mode))
		flags = fcntl(fd, F_GETFL);
	return (struct wv_set_file){.fd = fd,
				    .access = flags & O_ACCMODE,
				    .entry = wv_fd_get(fd),
				    .device = st.st_dev,
				    .inode = st.st_ino};
}

static bool is_there(const struct wv_set_file *file)
{
	struct wv_set_file now = file_at(file->fd);

	return now.fd >= 0 && wv_fd_is_same(file->entry, now.entry) && now.access == file->access &&
	       now.device == file->device && now.inode == file->inode;
}

void wv_resources_opened(void *to, int fd)
{
	struct wv_resources *resources = to;

	if (resources->n_files == WV_RESOURCES_FDS) {
		resources->lost = true;
		return;
	}
	resources->lost |= is_scarce(fd);
	wv_lock();
	if (wv_fd_get(fd).kind == WV_FD_NONE)
		resources->lost |= !wv_fd_hide(fd, resources->owner);
	resources->files[resources->n_files++] = file_at(fd);
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

/*
 * The kernel places mappings downwards, one next to the other, so most of a set becomes one range.
 */
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

static void append(struct wv_resources *resources, struct wv_range range)
{
	struct wv_range *more =
	    reallocarray(resources->ranges, resources->n_ranges + 1u, sizeof(range));

	if (!more) {
		resources->lost = true;
		return;
	}
	resources->ranges = more;
	resources->ranges[resources->n_ranges++] = range;
}

static void add_range(struct wv_resources *resources, void *at, size_t bytes,
		      enum wv_range_kind kind)
{
	struct wv_range range = {(uintptr_t)at, (uintptr_t)at + bytes, kind};

	/* Asked before it matters: newer kernels refuse it for memory of the kernel, too. */
	if (madvise(at, bytes, MADV_DOFORK))
		range.kind = kind = WV_RANGE_IO;
	advise(&range, MADV_DONTFORK);
	for (unsigned int i = 0; i < resources->n_ranges; i++)
		if (extend(&resources->ranges[i], range.start, range.end, kind))
			return;
	append(resources, range);
}

/*
 * A provider whose queues are the kernel's maps those. Pages of the adapter need more care, so
 * unknown mappings are treated as such.
 */
static enum wv_range_kind kind_of(int fd)
{
	/*
	 * The lock is not taken, because this thread may hold it. No other thread uses this
	 * context.
	 */
	const struct wv_context *c = wv_context_of(fd);
	const struct wv_driver_row *driver = c ? wv_abi_driver(c->driver_id) : NULL;

	if (!c)
		return WV_RANGE_QUEUES;
	return driver && !driver->user_queues ? WV_RANGE_KERNEL : WV_RANGE_IO;
}

void wv_resources_mapped(void *resources, void *at, size_t bytes, int fd)
{
	add_range(resources, at, bytes, kind_of(fd));
}

void wv_resources_let_inherit(const struct wv_resources *resources, bool inherit)
{
	for (unsigned int i = 0; i < resources->n_ranges; i++)
		advise(&resources->ranges[i], inherit ? MADV_DOFORK : MADV_DONTFORK);
}

void wv_resources_give_fds(const struct wv_resources *resources)
{
	for (unsigned int i = 0; i < resources->n_files; i++)
		if (wv_fd_get(resources->files[i].fd).kind == WV_FD_PRIVATE)
			wv_fd_untrack(resources->files[i].fd);
}

unsigned int wv_resources_fds(const struct wv_resources *resources, int *fds, unsigned int most)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < resources->n_files && n < most; i++)
		if (resources->files[i].fd >= 0)
			fds[n++] = resources->files[i].fd;
	return n;
}

static void lose(struct wv_resources *resources, unsigned int i)
{
	resources->files[i].fd = -1;
	resources->closed = resources->lost = true;
}

bool wv_resources_lose_fd(struct wv_resources *resources, int fd)
{
	for (unsigned int i = 0; i < resources->n_files; i++) {
		if (resources->files[i].fd != fd)
			continue;
		lose(resources, i);
		return true;
	}
	return false;
}

bool wv_resources_are_there(struct wv_resources *resources)
{
	for (unsigned int i = 0; i < resources->n_files; i++)
		if (!is_there(&resources->files[i]))
			lose(resources, i);
	return !resources->closed;
}

void wv_resources_part_from_queues(const struct wv_resources *resources)
{
	for (unsigned int i = 0; i < resources->n_ranges; i++)
		if (resources->ranges[i].kind == WV_RANGE_QUEUES)
			mmap((void *)resources->ranges[i].start, length(&resources->ranges[i]),
			     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			     0);
}

static void unmap(const struct wv_resources *resources, unsigned int kinds)
{
	for (unsigned int i = 0; i < resources->n_ranges; i++)
		if (resources->ranges[i].kind & kinds)
			munmap((void *)resources->ranges[i].start, length(&resources->ranges[i]));
}

/*
 * Queues stay mapped: they may be memory of a lease, which is unmapped with the command descriptor.
 */
void wv_resources_drop(const struct wv_resources *resources)
{
	for (unsigned int i = 0; i < resources->n_files; i++) {
		if (resources->files[i].fd < 0)
			continue;
		wv_context_close(resources->files[i].fd);
		close(resources->files[i].fd);
	}
	unmap(resources, WV_RANGE_UFILE);
}

void wv_close_numbers(int first, int last)
{
	if (!close_range((unsigned int)first, (unsigned int)last, 0))
		return;
	for (int fd = first; fd <= last; fd++)
		close(fd);
}

static void close_whole(const struct wv_set_file *const *run, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		wv_fd_untrack(run[i]->fd);
	wv_close_numbers(run[0]->fd, run[n - 1]->fd);
}

static void close_what_is_there(const struct wv_set_file *const *run, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (!is_there(run[i]))
			continue;
		wv_fd_untrack(run[i]->fd);
		close(run[i]->fd);
	}
}

static bool is_tracked(const struct wv_set_file *file)
{
	return wv_fd_is_same(file->entry, wv_fd_get(file->fd));
}

/* How many files from @i on are a run. */
static unsigned int run_at(const struct wv_left_files *files, unsigned int i)
{
	const struct wv_set_file *const *all = files->all;
	unsigned int next = i + 1;

	while (!files->each && next < files->n && all[next]->fd == all[next - 1]->fd + 1 &&
	       is_tracked(all[next]) && is_tracked(all[next - 1]))
		next++;
	return next - i;
}

void wv_left_files_close(struct wv_left_files *files)
{
	const struct wv_set_file *const *all = files->all;
	unsigned int next;

	for (unsigned int i = 0; i < files->n; i = next) {
		next = i + run_at(files, i);
		if (next - i > 1 && is_there(all[i]) && is_there(all[next - 1]))
			close_whole(all + i, next - i);
		else
			close_what_is_there(all + i, next - i);
	}
	files->n = 0;
}

/* Most come in the order of their numbers. */
static void add(struct wv_left_files *files, const struct wv_set_file *file)
{
	unsigned int i;

	if (files->n == WV_LEFT_FILES)
		wv_left_files_close(files);
	for (i = files->n++; i && files->all[i - 1]->fd > file->fd; i--)
		files->all[i] = files->all[i - 1];
	files->all[i] = file;
}

void wv_resources_leave(const struct wv_resources *resources, unsigned int kinds,
			struct wv_left_files *files)
{
	for (unsigned int i = 0; i < resources->n_files; i++)
		if (resources->files[i].fd >= 0)
			add(files, &resources->files[i]);
	unmap(resources, kinds);
}
