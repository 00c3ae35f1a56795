/*
 * At every open libmlx5 reads all of /proc/cpuinfo to learn whether the processor is a Sandy Bridge
 * (mlx5.c, mlx5_is_sandy_bridge()), which grows with the number of processors and took some 20 ms
 * on kernels 4.15 to 5.18 (Linux commit 7d84c1ebf9dd). The processor itself answers that; a file
 * that cannot be read means "no" there.
 */
#pragma once

#include <stdbool.h>

/* Whether @path is that file, and the answer is known to be "no". */
bool wv_mlx5_hides_file(const char *path);
