/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/mlx5/cpuinfo.h"

#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* Family 6, models 0x2a and 0x2d (Intel SDM 3, CPUID leaf 1). */
static bool is_sandy_bridge(void)
{
	unsigned int a = 0, b, c, d, family, model;

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return true;
	family = a >> 8 & 0xf;
	model = (a >> 12 & 0xf0) | (a >> 4 & 0xf);
	return family == 6 && (model == 0x2a || model == 0x2d);
}
#else
static bool is_sandy_bridge(void)
{
	return true; /* not known: the provider must read the file */
}
#endif

bool wv_mlx5_hides_file(const char *path)
{
	return !strcmp(path, "/proc/cpuinfo") && !is_sandy_bridge();
}
