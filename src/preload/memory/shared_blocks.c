/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/memory/shared_blocks.h"

#include "base/base.h"
#include "preload/core/lock.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct block {
	uintptr_t start, end;
};

static void *blocks; /* a tree of tsearch(3) */
/* Few: each is for a moment at which there was no memory. */
static void *private_blocks[32];

/* Blocks do not overlap, so ranges that overlap are the same block. */
static int compare(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->end <= y->start)
		return -1;
	return x->start >= y->end;
}

static struct block *find(const void *at)
{
	struct block key = {(uintptr_t)at, (uintptr_t)at + 1};
	struct block **found = tfind(&key, &blocks, compare);

	return found ? *found : NULL;
}

static bool note(void *at, size_t bytes)
{
	struct block *block = malloc(sizeof(*block));

	if (!block)
		return false;
	*block = (struct block){(uintptr_t)at, (uintptr_t)at + bytes};
	if (tsearch(block, &blocks, compare))
		return true;
	free(block);
	return false;
}

/* Returns the size of the block; 0: no block begins at @at. */
static size_t forget(void *at)
{
	struct block *block = find(at);
	size_t bytes;

	if (!block || block->start != (uintptr_t)at)
		return 0;
	bytes = block->end - block->start;
	tdelete(block, &blocks, compare);
	free(block);
	return bytes;
}

/* The provider and the device use all of it at once, so it is populated here. */
void *wv_shared_block_new(size_t bytes)
{
	void *at;
	bool noted;

	bytes = wv_whole_pages(bytes);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		  -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	wv_lock();
	noted = note(at, bytes);
	wv_unlock();
	if (noted)
		return at;
	munmap(at, bytes);
	return NULL;
}

/* The place of @at, or an empty place for NULL. Returns NULL if there is none. */
static void **private_place(const void *at)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(private_blocks); i++)
		if (private_blocks[i] == at)
			return &private_blocks[i];
	return NULL;
}

static void *note_private(void *at)
{
	void **place;

	wv_lock();
	place = private_place(NULL);
	if (place)
		*place = at;
	wv_unlock();
	return place ? at : NULL;
}

void *wv_private_block_new(size_t bytes)
{
	void *at, *noted;

	bytes = wv_whole_pages(bytes);
	if (posix_memalign(&at, wv_page_size(), bytes))
		return NULL;
	noted = note_private(memset(at, 0, bytes));
	if (!noted)
		free(at);
	return noted;
}

void wv_block_free(void *at)
{
	void **place;
	size_t bytes;

	wv_lock();
	bytes = forget(at);
	place = private_place(at);
	if (place)
		*place = NULL;
	wv_unlock();
	if (bytes)
		munmap(at, bytes);
	if (place)
		free(at);
}

/*
 * Without memory to note the block, it may be withheld from a child, which then cannot use the
 * queue.
 */
void wv_shared_block_note(void *at, size_t bytes)
{
	note(at, bytes);
}

void wv_shared_block_forget(void *at)
{
	forget(at);
}

bool wv_shared_block_holds(const void *at)
{
	return find(at);
}
