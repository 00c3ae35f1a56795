/*
 * What a provider writes into a queue before it gives it to the kernel: nearly all zeroes, and
 * marks at even distances, such as the invalid opcode of each empty CQE or the links of an SRQ's
 * free list. Kept as series of big-endian 16-bit words, so that a queue of any size takes a few
 * bytes in a recipe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WV_MAX_SERIES 16

struct wv_series {
	uint32_t offset, stride; /* bytes, even */
	uint32_t count;
	uint16_t value, step; /* the first word, and what each next one has more */
};

/*
 * Describes @bytes (a multiple of 8) at @memory (8-byte aligned) in at most WV_MAX_SERIES series.
 * Returns how many; -E2BIG if they are not enough.
 */
int wv_pattern_read(const void *memory, size_t bytes, struct wv_series series[WV_MAX_SERIES]);

/* Writes what @n series describe into zeroed @memory; they passed wv_pattern_check(). */
void wv_pattern_write(void *memory, const struct wv_series *series, size_t n);

/* Whether @n series stay within @bytes, and name no more words than there are. */
bool wv_pattern_check(const struct wv_series *series, size_t n, size_t bytes);
