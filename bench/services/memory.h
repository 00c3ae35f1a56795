/* SPDX-License-Identifier: BSD-2-Clause */
/* What host.c offers to its clients: one memory region. */
#pragma once

#include "../connect/store.h"

#define SERVICE	     "bench"
#define HANDED_BYTES 4096

struct host_memory {
	struct store_bucket store[STORE_BUCKETS]; /* to be read */
	uint8_t inbox[HANDED_BYTES]; /* to be written, with the last byte as immediate */
	uint64_t noticed; /* when the host has looked at all of that, on the monotonic clock */
};
