/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdint.h>
#include <sys/random.h>

/*
 * A number that only those know who were told. 0 if the kernel has none yet, which it has for
 * moments after the start of the node.
 */
static inline uint64_t wv_random_number(void)
{
	uint64_t number;

	return getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number) ? number : 0;
}
