/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The initial pattern of a queue: what the provider writes before it creates the queue. That is
 * nearly all zeros, with marks at even distances, such as the invalid opcode of each empty CQE or
 * the links of an SRQ's free list. Stored as series of big-endian 16-bit words, a queue of any size
 * takes a few bytes in a recipe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WV_MAX_SERIES 16

struct wv_series {
	uint32_t offset, stride; /* bytes, even */
	uint32_t count;
	uint16_t value, step; /* the first word, and what each next word adds */
};

/*
 * Describes @bytes (a multiple of 8) at @memory (8-byte aligned) in at most WV_MAX_SERIES series.
 * Returns their number, or -E2BIG if more are needed.
 */
int wv_pattern_read(const void *memory, size_t bytes, struct wv_series series[WV_MAX_SERIES]);

/* Writes @n series, which passed wv_pattern_check(), into zeroed @memory. */
void wv_pattern_write(void *memory, const struct wv_series *series, size_t n);

/* Whether @n series stay within @bytes and have no more words than fit there. */
bool wv_pattern_check(const struct wv_series *series, size_t n, size_t bytes);
