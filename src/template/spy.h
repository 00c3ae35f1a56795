/* SPDX-License-Identifier: BSD-2-Clause */
/* Which variables of the environment a program has read before its stop point, and their values. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The program has read the variable @name, of @length. @value: NULL if it was not set. */
void wv_spy_note(const char *name, size_t length, const char *value);

/*
 * Notes what the loader and the C library read without getenv(3), and no more from now on. Returns
 * NULL, or why that is not possible.
 */
const char *wv_spy_end(void);

/* In a child: notes what is read meanwhile, too. */
void wv_spy_resume(void);
void wv_spy_pause(void);

/*
 * Whether a program with this environment would have read the same. If not, *@name is a variable
 * that differs.
 */
bool wv_spy_is_same(char *const *environment, const char **name);
