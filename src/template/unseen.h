/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What execve(2) leaves as it is, and only the process itself can ask for: a client says what it
 * has. One that lies gets no more than it could have set itself.
 */
#pragma once

#include <stdint.h>

enum { WV_UNSEEN_END_SIGNAL, WV_UNSEEN = 14 };

void wv_unseen_read(int64_t values[static WV_UNSEEN]);

/* The name of the first value that differs, or NULL. */
const char *wv_unseen_difference(const int64_t *values, const int64_t *others);
