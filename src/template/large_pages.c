/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/large_pages.h"

#include "base/base.h"
#include "base/mappings.h"

#include <fcntl.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

/* On x86-64, and on aarch64 with pages of 4 KB. */
#define LARGE	     ((uintptr_t)2 << 20)
#define MOST	     (LARGE / 4096)
#define ALIGN_UP(at) (((at) + LARGE - 1) & ~(LARGE - 1))

/* proc_pid_pagemap(5) */
#define IS_PRESENT 63
#define IS_SWAPPED 62

/* A large page also has memory for small ones that were never touched. */
static bool is_mostly_used(int pagemap, uintptr_t start)
{
	uint64_t pages[MOST];
	size_t n = LARGE / wv_page_size(), used = 0;
	off_t at = (off_t)(start / wv_page_size() * sizeof(pages[0]));

	if (n > MOST ||
	    pread(pagemap, pages, n * sizeof(pages[0]), at) != (ssize_t)(n * sizeof(pages[0])))
		return false;
	for (size_t i = 0; i < n; i++)
		used += pages[i] >> IS_PRESENT & 1 || pages[i] >> IS_SWAPPED & 1;
	return used > n / 2;
}

static bool is_fit(const struct wv_mapping *m)
{
	return !m->inode && !m->is_shared && !m->is_stack && wv_mapping_is_plain(m);
}

void wv_large_pages_use(void)
{
	wv_auto_free struct wv_mapping *mappings = NULL;
	wv_auto_fd pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t n = wv_mappings_read(0, UINTPTR_MAX, &mappings);

	for (size_t i = 0; i < n && pagemap >= 0; i++) {
		uintptr_t at = ALIGN_UP(mappings[i].start);

		for (; is_fit(&mappings[i]) && at + LARGE <= mappings[i].end; at += LARGE)
			if (is_mostly_used(pagemap, at))
				madvise((void *)at, LARGE, MADV_COLLAPSE);
	}
}
