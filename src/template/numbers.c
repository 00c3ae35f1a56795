/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/numbers.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int compare(const void *one, const void *other)
{
	return *(const int *)one - *(const int *)other;
}

void wv_numbers_sort(int *numbers, unsigned int n)
{
	qsort(numbers, n, sizeof(*numbers), compare);
}

/* musl has no function for it. */
static int close_range_of(unsigned int first, unsigned int last)
{
	return syscall(SYS_close_range, first, last, 0) ? -errno : 0;
}

int wv_numbers_close_others(const int *stay, unsigned int n)
{
	unsigned int next = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int number = (unsigned int)stay[i];
		int err = number > next ? close_range_of(next, number - 1) : 0;

		if (err)
			return err;
		next = number + 1;
	}
	return close_range_of(next, UINT_MAX);
}
