/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/pattern.h"

#include <errno.h>
#include <string.h>

static uint16_t word_at(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static bool continues(const struct wv_series *s, size_t offset, uint16_t value)
{
	return offset == s->offset + (uint64_t)s->count * s->stride &&
	       value == (uint16_t)(s->value + s->count * s->step);
}

/* A single word and the next word make a series; they give its stride and step. */
static void pair(struct wv_series *s, size_t offset, uint16_t value)
{
	s->stride = (uint32_t)offset - s->offset;
	s->step = (uint16_t)(value - s->value);
	s->count = 2;
}

/* Adds the word to the last series, or begins another. The new number of series, or -E2BIG. */
static int add(struct wv_series *series, int n, size_t offset, uint16_t value)
{
	struct wv_series *last = n ? &series[n - 1] : NULL;

	if (last && last->count > 1 && continues(last, offset, value)) {
		last->count++;
		return n;
	}
	if (last && last->count == 1) {
		pair(last, offset, value);
		return n;
	}
	if (n == WV_MAX_SERIES)
		return -E2BIG;
	series[n] = (struct wv_series){.offset = (uint32_t)offset, .count = 1, .value = value};
	return n + 1;
}

int wv_pattern_read(const void *memory, size_t bytes, struct wv_series series[WV_MAX_SERIES])
{
	const uint8_t *start = memory;
	const uint64_t *eight = memory;
	int n = 0;

	for (size_t at = 0; at < bytes && n >= 0; at += 8) {
		if (!eight[at / 8])
			continue;
		for (size_t word = at; word < at + 8 && n >= 0; word += 2)
			if (word_at(start + word))
				n = add(series, n, word, word_at(start + word));
	}
	return n;
}

void wv_pattern_write(void *memory, const struct wv_series *series, size_t n)
{
	for (const struct wv_series *s = series; s < series + n; s++)
		for (uint32_t i = 0; i < s->count; i++) {
			uint8_t *at = (uint8_t *)memory + s->offset + (size_t)i * s->stride;
			uint16_t value = (uint16_t)(s->value + i * s->step);

			at[0] = (uint8_t)(value >> 8);
			at[1] = (uint8_t)value;
		}
}

bool wv_pattern_check(const struct wv_series *series, size_t n, size_t bytes)
{
	uint64_t words = 0;

	for (const struct wv_series *s = series; s < series + n; s++) {
		uint64_t last = s->count ? s->offset + (uint64_t)(s->count - 1) * s->stride : 0;

		words += s->count;
		if (!s->count || (s->count > 1 && s->stride < 2) || last + 2 > bytes)
			return false;
	}
	return words <= bytes / 2;
}
