/* SPDX-License-Identifier: BSD-2-Clause */
#include "store.h"

#include "../measure.h"

#define MULTIPLIER 0x9e3779b97f4a7c15ull /* of Fibonacci hashing */

static uint8_t byte_of(uint64_t key, size_t i)
{
	return (uint8_t)(key * 31 + key / 251 + i);
}

size_t store_bucket_of(uint64_t key)
{
	return (size_t)(key * MULTIPLIER >> 32) % STORE_BUCKETS;
}

static bool put(struct store_bucket *bucket, uint64_t key)
{
	for (size_t i = 0; i < STORE_ENTRIES; i++) {
		struct store_entry *entry = &bucket->entries[i];

		if (entry->key)
			continue;
		entry->key = key;
		for (size_t at = 0; at < STORE_VALUE; at++)
			entry->value[at] = byte_of(key, at);
		return true;
	}
	return false;
}

void store_fill(struct store_bucket *table)
{
	for (uint64_t key = 1; key <= STORE_KEYS; key++) {
		size_t at = store_bucket_of(key);

		while (!put(&table[at], key))
			at = (at + 1) % STORE_BUCKETS;
	}
}

static void check(const struct store_entry *entry)
{
	for (size_t at = 0; at < STORE_VALUE; at++)
		if (entry->value[at] != byte_of(entry->key, at))
			give_up(0, "the value of key %lu is wrong", (unsigned long)entry->key);
}

enum store_found store_find(const struct store_bucket *bucket, uint64_t key)
{
	for (size_t i = 0; i < STORE_ENTRIES; i++) {
		const struct store_entry *entry = &bucket->entries[i];

		if (!entry->key)
			return STORE_NONE;
		if (entry->key != key)
			continue;
		check(entry);
		return STORE_FOUND;
	}
	return STORE_NEXT;
}

void store_check(const struct store_bucket *buckets, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n * STORE_ENTRIES; i++) {
		const struct store_entry *entry =
		    &buckets[i / STORE_ENTRIES].entries[i % STORE_ENTRIES];

		if (entry->key) {
			check(entry);
			found++;
		}
	}
	if (!found)
		give_up(0, "what was read from the store is empty");
}
