/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments and environment of a process, and what kernel and C library know of them. */
#pragma once

#include "template/start.h"

/*
 * At the stop point: finds out what the kernel knows of this process, for wv_arguments_take(), and
 * whether it lets that be changed. Returns 0 or -errno, as that function.
 */
int wv_arguments_prepare(void);

/*
 * Makes those of @s this process's own: environ, program_invocation_name, and what /proc/self has
 * (cmdline, environ). main() or whoever else has been given others must be given these. Also renews
 * the random bytes that the kernel gives each program (getauxval(3): AT_RANDOM).
 *
 * Returns 0 or -errno: what prctl(2) says of PR_SET_MM_MAP, which needs a kernel with
 * CONFIG_CHECKPOINT_RESTORE, but no right.
 */
int wv_arguments_take(const struct wv_started *s);
