/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of numbers of descriptors. */
#pragma once

/* Sorts them: they rise. */
void wv_numbers_sort(int *numbers, unsigned int n);

/* Closes all descriptors but the @n at @stay, which rise. Returns 0 or -errno. */
int wv_numbers_close_others(const int *stay, unsigned int n);

/*
 * Calls @each with every descriptor that this process has when it calls this function, in no
 * certain order, until @each returns another value than 0. Returns this value, 0, or -errno. Faster
 * than opendir(3), which maps memory.
 */
int wv_numbers_each(int (*each)(void *data, int fd), void *data);
