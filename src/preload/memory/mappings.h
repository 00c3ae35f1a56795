/* SPDX-License-Identifier: BSD-2-Clause */
/* The mappings of this process (/proc/self/smaps). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wv_mapping {
	uintptr_t start, end;
	uint64_t inode; /* 0: anonymous and private */
	bool is_shared, is_stack;
	/*
	 * It can be read and written, and has no other property that a new mapping in its place
	 * would lack: code, locked pages, huge pages, a protection key, and what else there is.
	 */
	bool is_plain;
};

/*
 * Reads the mappings between @start and @end, cut to that range, in order. Returns how many there
 * are; the caller frees *@mappings. Returns 0 too if they cannot be read.
 */
size_t wv_mappings_read(uintptr_t start, uintptr_t end, struct wv_mapping **mappings);
