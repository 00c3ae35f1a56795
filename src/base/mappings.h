/* SPDX-License-Identifier: BSD-2-Clause */
/* The mappings of this process (/proc/self/smaps). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

struct wv_mapping {
	uintptr_t start, end;
	uint64_t inode; /* 0: anonymous and private */
	int prot;	/* PROT_READ, PROT_WRITE and PROT_EXEC */
	bool is_shared, is_stack;
	/*
	 * It has no property that a new mapping in its place would lack: code, locked pages, huge
	 * pages, a protection key, and what else there is.
	 */
	bool is_usual;
	bool has_own_pages; /* pages that are not a file's, in memory or swapped */
	bool is_locked;
	bool is_left_out; /* by fork(2): MADV_DONTFORK */
};

/* Whether it can be read and written, and a new mapping in its place is like it. */
static inline bool wv_mapping_is_plain(const struct wv_mapping *m)
{
	return m->is_usual && m->prot == (PROT_READ | PROT_WRITE);
}

/*
 * Reads the mappings between @start and @end, cut to that range, in order. Returns how many there
 * are; the caller frees *@mappings. Returns 0 too if they cannot be read.
 */
size_t wv_mappings_read(uintptr_t start, uintptr_t end, struct wv_mapping **mappings);
