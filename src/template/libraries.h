/* SPDX-License-Identifier: BSD-2-Clause */
/* What the dynamic linker has loaded. */
#pragma once

#include <stdbool.h>

/* Whether the program is begun by libc, which then calls its main(). */
bool wv_program_has_main(void);

/*
 * At the stop point: notes the paths (places.h), and has the folders watched in which another file
 * could come before them. Returns 0 or -errno: EINVAL if one of the folders is relative.
 */
int wv_libraries_note(void);
