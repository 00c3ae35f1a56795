/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Anonymous memory that is shared with children. It becomes a file, so that the server can have a
 * descriptor of it: pinned pages outlive the process that pinned them.
 */
#pragma once

#include <stddef.h>

/* As mmap() with MAP_SHARED and MAP_ANONYMOUS among @flags. */
void *standin_map_shared(void *at, size_t length, int prot, int flags);

/* [@at, @at + @length) is about to be unmapped. */
void standin_forget_shared(void *at, size_t length);
