/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A store of keys and values in one piece of memory, laid out so that a client looks a key up by
 * RDMA READs: a table of buckets. A key is in the bucket of its hash, or, if that is full, in the
 * next one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_KEYS    16384 /* 1 to STORE_KEYS are there */
#define STORE_BUCKETS 8192
#define STORE_VALUE   56
#define STORE_ENTRIES 4 /* of a bucket */

struct store_bucket {
	struct store_entry {
		uint64_t key; /* 0: none */
		uint8_t value[STORE_VALUE];
	} entries[STORE_ENTRIES];
};

#define STORE_BYTES (STORE_BUCKETS * sizeof(struct store_bucket))

/* Fills a zeroed table. */
void store_fill(struct store_bucket *table);

/* The bucket to look into first. */
size_t store_bucket_of(uint64_t key);

/* What a bucket says of @key. A value that is not that of its key ends the program. */
enum store_found { STORE_FOUND, STORE_NEXT, STORE_NONE };
enum store_found store_find(const struct store_bucket *bucket, uint64_t key);

/* Ends the program unless all that @buckets hold is right, and they hold something. */
void store_check(const struct store_bucket *buckets, size_t n);
