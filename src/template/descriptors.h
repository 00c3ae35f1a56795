/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptors of a client, at their numbers. */
#pragma once

#include "template/start.h"

#include <stdbool.h>

#define WV_KEPT_MOST 4
#define WV_READY_FDS 128

/* Whether this process may have as many, and at such numbers. */
bool wv_descriptors_fit(const struct wv_started *s);

/*
 * Puts the descriptors of @s where the client has them, and closes all others except *@kept[i],
 * which move to numbers above (and are closed by execve(2)), and those of objects that are ready
 * (template/ready.h), at numbers that the client does not have. Returns 0, or -errno: EMFILE if the
 * limit of this process is too low.
 */
int wv_descriptors_take(const struct wv_started *s, int *const *kept, unsigned int n_kept);
