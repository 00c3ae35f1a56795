/* What this process has mapped (/proc/self/maps). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wv_mapping {
	uintptr_t start, end;
	uint64_t inode; /* 0: anonymous and private */
	bool is_shared, is_writable, is_stack;
};

/*
 * The mappings between @start and @end, cut to that, in order. How many there are; *@mappings is
 * the caller's to free. 0 as well when they cannot be read.
 */
size_t wv_mappings_read(uintptr_t start, uintptr_t end, struct wv_mapping **mappings);
