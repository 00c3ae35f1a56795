/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * At every open, libmlx5 reads all of /proc/cpuinfo to learn whether the processor is a Sandy
 * Bridge (mlx5.c, mlx5_is_sandy_bridge()). The time for that grows with the number of processors,
 * and was about 20 ms on kernels 4.15 to 5.18 (Linux commit 7d84c1ebf9dd). The CPUID instruction
 * gives the same answer, and libmlx5 takes a file that it cannot read for "no".
 */
#pragma once

#include <stdbool.h>

/* Whether @path is that file and the answer is known to be "no". */
bool wv_mlx5_hides_file(const char *path);
