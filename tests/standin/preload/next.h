/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The next definition of a function that this library defines too, or that the library under test
 * does: that one may call this library with a lock held that its own function would take.
 * ThreadSanitizer does not see such calls, so all calls on a descriptor must be such, or none: else
 * the next file with its number looks like a race.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STANDIN_PUBLIC __attribute__((visibility("default")))

/* Finds it once; @slot remembers. */
void *standin_next(void **slot, const char *name);

#define NEXT(name)                                                                                 \
	({                                                                                         \
		static void *slot;                                                                 \
		(__typeof__(&name))standin_next(&slot, #name);                                     \
	})

/* False without a server: then each function here only calls the next definition. */
bool standin_active(void);
