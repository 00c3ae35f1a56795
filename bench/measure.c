/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t median(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void *made(void *object, const char *what)
{
	if (!object)
		give_up(errno, "%s", what);
	return object;
}

static void *memory_of(size_t bytes, int sharing)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		give_up(errno, "memory");
	return memory;
}

void *shared_memory(size_t bytes)
{
	return memory_of(bytes, MAP_SHARED);
}

void *private_memory(size_t bytes)
{
	return memory_of(bytes, MAP_PRIVATE);
}

unsigned long number(const char *text, unsigned long least)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (end == text || *end || errno || value < least || *text == '-')
		give_up(0, "'%s' is not a whole number from %lu up", text, least);
	return value;
}

void give_up(int error, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, error ? ": %s\n" : "\n", strerror(error));
	exit(1);
}
