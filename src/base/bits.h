/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of small numbers, as bits of 64-bit words. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline bool wv_bit(const uint64_t *bits, unsigned int i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static inline void wv_set_bit(uint64_t *bits, unsigned int i, bool value)
{
	bits[i / 64] = (bits[i / 64] & ~(1ull << i % 64)) | (uint64_t)value << i % 64;
}
