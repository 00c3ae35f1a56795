/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/arena.h"

#include "base/base.h"
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* Where memory is placed that is registered: 32 to 64 TiB, by 2 MiB. */
#define PLACES_START (1ull << 45)
#define PLACE_BYTES  (1ull << 21)
#define PLACES	     ((1ull << 45) / PLACE_BYTES)

uint64_t wv_recipe_memory(struct wv_cmdlog *recipe)
{
	uint64_t bytes = 0;

	wv_each_step (recipe, step)
		if (step->class_ == WV_MEMORY && bytes <= WV_CMDLOG_MAX_MEMORY)
			bytes += wv_whole_pages(wv_step_memory_size(step));
	return bytes ? bytes + wv_page_size() : 0; /* offset 0 is no memory */
}

/*
 * Between the heap and the libraries of a program, and in no shadow memory of AddressSanitizer. No
 * two leases of a program are to meet, so it is by chance.
 */
static uint64_t choose_place(void)
{
	return PLACES_START + (wv_random_number() % PLACES) * PLACE_BYTES;
}

/* Maps @fd between two pages without access. */
static uint8_t *map_guarded(int fd, size_t bytes)
{
	size_t page = wv_page_size();
	uint8_t *all = mmap(NULL, bytes + 2 * page, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (all == MAP_FAILED)
		return NULL;
	if (mmap(all + page, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	    MAP_FAILED) {
		munmap(all, bytes + 2 * page);
		return NULL;
	}
	return all + page;
}

int wv_arena_make(struct wv_arena *arena, uint64_t bytes)
{
	wv_auto_fd fd = -1;

	*arena = (struct wv_arena){.fd = -1};
	if (!bytes)
		return 0;
	if (bytes > WV_CMDLOG_MAX_MEMORY)
		return -E2BIG;
	/* Further seals tell the daemon later whether pages of it are in use. */
	fd = memfd_create("warmverbs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW))
		return -errno;
	arena->base = map_guarded(fd, bytes);
	if (!arena->base)
		return -errno;
	arena->bytes = bytes;
	arena->used = wv_page_size();
	arena->place = choose_place();
	arena->fd = wv_steal_fd(&fd);
	return 0;
}

int wv_arena_take(struct wv_arena *arena, uint64_t bytes, uint32_t *offset)
{
	if (wv_whole_pages(bytes) > arena->bytes - arena->used)
		return -ENOSPC;
	*offset = (uint32_t)arena->used;
	arena->used += wv_whole_pages(bytes);
	return 0;
}

int wv_arena_finish(struct wv_arena *arena)
{
	if (arena->base)
		munmap(arena->base - wv_page_size(), arena->bytes + 2 * wv_page_size());
	arena->base = NULL;
	return wv_steal_fd(&arena->fd);
}
