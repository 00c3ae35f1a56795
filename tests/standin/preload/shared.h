/*
 * Memory that is shared with children and has no name. It becomes a file, of which the server can
 * have a descriptor: what is pinned stays when the process that pinned it has ended.
 */
#pragma once

#include <stddef.h>

/* As mmap() with MAP_SHARED and MAP_ANONYMOUS among @flags. */
void *standin_map_shared(void *at, size_t length, int prot, int flags);

/* [@at, @at + @length) is about to be unmapped. */
void standin_forget_shared(void *at, size_t length);
