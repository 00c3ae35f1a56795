/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the program would miss the descriptors that this library keeps open. */
#pragma once

#include <stdbool.h>

/*
 * Whether this process can open several more descriptors, so that libibverbs finds enough to list
 * and open devices: the highest numbers that the limit allows are free. Says no in a program that
 * uses one of these, however many of the others are free. Opens nothing. Call with the lock of the
 * control path held.
 */
bool wv_fds_are_plenty(void);

/*
 * Whether as many numbers lie between @fd, the highest of some new descriptors, and the limit that
 * wv_fds_are_plenty() found. The kernel gives the lowest free number, so most of them are free.
 */
bool wv_fd_is_far_from_limit(int fd);
