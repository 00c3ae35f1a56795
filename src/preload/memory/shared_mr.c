/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/memory/shared_mr.h"

#include "base/base.h"
#include "base/mappings.h"
#include "preload/core/lock.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pages that were replaced at once. They stay shared until no registration overlaps them. */
struct piece {
	LIST_ENTRY(piece) of_all;
	uintptr_t start, end;
	uint64_t inode;
	unsigned int users;
};

struct wv_shared_mr {
	struct ibv_mr *mr;
	unsigned int n;
	struct piece *pieces[];
};

static LIST_HEAD(, piece) pieces = LIST_HEAD_INITIALIZER(pieces);
static void *shares; /* a tree of tsearch(3), by MR */

static int compare(const void *a, const void *b)
{
	const struct wv_shared_mr *x = a, *y = b;

	return (x->mr > y->mr) - (x->mr < y->mr);
}

static bool write_all(int fd, const void *from, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = pwrite(fd, (const char *)from + done, bytes - done, (off_t)done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Maps a file with the same content in place of the mapping. Returns its inode, or 0. */
static uint64_t replace(const struct wv_mapping *m)
{
	size_t bytes = m->end - m->start;
	wv_auto_fd fd = memfd_create("warmverbs-mr", MFD_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !write_all(fd, (void *)m->start, bytes) ||
	    mmap((void *)m->start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		MAP_FAILED)
		return 0;
	return st.st_ino;
}

static void make_piece(const struct wv_mapping *m)
{
	struct piece *piece;

	if (m->is_shared || !wv_mapping_is_plain(m) || m->is_stack || m->inode)
		return;
	piece = malloc(sizeof(*piece));
	if (!piece)
		return;
	*piece = (struct piece){.start = m->start, .end = m->end, .inode = replace(m)};
	if (piece->inode)
		LIST_INSERT_HEAD(&pieces, piece, of_all);
	else
		free(piece);
}

/*
 * Makes the rest of a piece private again. Not what the program has unmapped, protected or locked
 * since.
 */
static void end_piece(struct piece *piece)
{
	struct wv_mapping *mappings;
	size_t n = wv_mappings_read(piece->start, piece->end, &mappings);

	for (size_t i = 0; i < n; i++) {
		size_t bytes = mappings[i].end - mappings[i].start;
		void *at = (void *)mappings[i].start, *copy;

		if (!mappings[i].is_shared || !wv_mapping_is_plain(&mappings[i]) ||
		    mappings[i].inode != piece->inode)
			continue;
		copy =
		    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (copy == MAP_FAILED)
			continue;
		memcpy(copy, at, bytes);
		mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
	}
	free(mappings);
	LIST_REMOVE(piece, of_all);
	free(piece);
}

static void make_pieces(uintptr_t start, uintptr_t end)
{
	struct wv_mapping *mappings;
	size_t n = wv_mappings_read(start, end, &mappings);

	for (size_t i = 0; i < n; i++)
		make_piece(&mappings[i]);
	free(mappings);
}

static bool is_in(const struct piece *piece, uintptr_t start, uintptr_t end)
{
	return piece->start < end && piece->end > start;
}

static struct wv_shared_mr *use_pieces(uintptr_t start, uintptr_t end)
{
	struct wv_shared_mr *share;
	struct piece *piece;
	unsigned int n = 0;

	LIST_FOREACH (piece, &pieces, of_all)
		n += is_in(piece, start, end);
	share = n ? malloc(sizeof(*share) + n * sizeof(piece)) : NULL;
	if (!share)
		return NULL;
	share->n = 0;
	LIST_FOREACH (piece, &pieces, of_all)
		if (is_in(piece, start, end)) {
			piece->users++;
			share->pieces[share->n++] = piece;
		}
	return share;
}

struct wv_shared_mr *wv_shared_mr_take(void *at, size_t bytes)
{
	uintptr_t page = wv_page_size();
	uintptr_t start = wv_whole_pages((uintptr_t)at);
	uintptr_t end = ((uintptr_t)at + bytes) & ~(page - 1);
	struct wv_shared_mr *share = NULL;

	if (start >= end)
		return NULL;
	wv_lock();
	make_pieces(start, end);
	share = use_pieces(start, end);
	wv_unlock();
	return share;
}

static void drop(struct wv_shared_mr *share)
{
	for (unsigned int i = 0; i < share->n; i++)
		if (!--share->pieces[i]->users)
			end_piece(share->pieces[i]);
	free(share);
}

/* ibv_reg_mr() may have withheld the pages from children (ibv_fork_init()): undoes that. */
static void leave_to_children(const struct wv_shared_mr *share)
{
	for (unsigned int i = 0; i < share->n; i++)
		madvise((void *)share->pieces[i]->start,
			share->pieces[i]->end - share->pieces[i]->start, MADV_DOFORK);
}

void wv_shared_mr_keep(struct wv_shared_mr *share, struct ibv_mr *mr)
{
	if (!share)
		return;
	share->mr = mr;
	wv_lock();
	if (!mr) {
		drop(share);
	} else {
		/* Without memory for the tree, the pages stay shared: the adapter uses them. */
		leave_to_children(share);
		if (!tsearch(share, &shares, compare))
			free(share);
	}
	wv_unlock();
}

struct wv_shared_mr *wv_shared_mr_of(struct ibv_mr *mr)
{
	struct wv_shared_mr key = {.mr = mr}, **found, *share;

	wv_lock();
	found = tfind(&key, &shares, compare);
	share = found ? *found : NULL;
	if (share)
		tdelete(share, &shares, compare);
	wv_unlock();
	return share;
}
