/*
 * fopen(), for one file. At every open libmlx5 reads all of /proc/cpuinfo to learn whether the
 * processor is a Sandy Bridge (mlx5.c, mlx5_is_sandy_bridge()), which grows with the number of
 * processors and took some 20 ms on kernels 4.15 to 5.18 (Linux commit 7d84c1ebf9dd). The processor
 * itself answers that; a file that cannot be read means "no" there.
 */
#undef _FILE_OFFSET_BITS

#include "base/base.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"

#include <errno.h>
#include <stdio.h>
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
	return true; /* not known: let the provider look */
}
#endif

static FILE *open_any(const char *path, const char *mode)
{
	if (wv_opening && path && !strcmp(path, "/proc/cpuinfo") && !is_sandy_bridge()) {
		errno = ENOENT;
		return NULL;
	}
	return real_fopen(path, mode);
}

WV_PUBLIC FILE *fopen(const char *path, const char *mode)
{
	return open_any(path, mode);
}

WV_PUBLIC FILE *fopen64(const char *path, const char *mode)
{
	return open_any(path, mode);
}
