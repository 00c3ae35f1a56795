/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every program here needs: a clock, medians, and one way to give up. These programs print
 * "NAME VALUE" lines on stdout, times in nanoseconds; tools/bench reads them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sorts @values. */
uint64_t median(uint64_t *values, size_t n);

/* The result of a verb or another function; gives up if it is NULL. */
void *made(void *object, const char *what);

/* Zeroed memory, which forked children share. Never freed; gives up if there is none. */
void *shared_memory(size_t bytes);

/* Zeroed memory that was never touched; gives up if there is none. */
void *private_memory(size_t bytes);

/* The value of an option as a whole number, at least @least; gives up if it is not. */
unsigned long number(const char *text, unsigned long least);

/* Prints what went wrong to stderr (and strerror(@error) unless 0), and exits with status 1. */
_Noreturn void give_up(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
