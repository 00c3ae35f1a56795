/* SPDX-License-Identifier: BSD-2-Clause */
/* Which process it is: its number may have been that of another. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* When it began, in the kernel's ticks; 0 if it is gone. */
uint64_t hca_process_began(pid_t pid);
