/* SPDX-License-Identifier: BSD-2-Clause */
/* Where memory that a command names is: the server's view of get_user_pages(). */
#pragma once

#include "../protocol.h"

/* The program maps @fd, or -1, shared; from now on /proc/self/maps is read. */
void standin_note_shared(int fd);

/*
 * Fills in what @memory's va is mapped to. If that is a file that this process has open, appends
 * its descriptor, which stays the program's, to the *@n_fds descriptors in @fds. 0; or -errno if no
 * descriptor is free to find out: a command that went on would name other memory.
 */
int standin_describe(struct standin_memory *memory, int *fds, unsigned int *n_fds);
