/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of libraries in LD_PRELOAD, which spaces and colons separate (ld.so(8)).
 */
#pragma once

#include <stdbool.h>

/* Whether LD_PRELOAD can name @library: a path with a separator would be several. */
bool wv_preload_can_name(const char *library);

/*
 * The libraries of @list, which may be NULL, with @library once, at the front, if @wanted, and
 * without it if not. The others and their order stay. Returns a string that the caller frees; NULL:
 * out of memory.
 */
char *wv_preload_list(const char *list, const char *library, bool wanted);
