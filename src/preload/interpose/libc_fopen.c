/* SPDX-License-Identifier: BSD-2-Clause */
/* fopen(), for files that a provider reads at every open without need. */
#undef _FILE_OFFSET_BITS

#include "base/base.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"
#include "preload/providers.h"

#include <errno.h>

static FILE *open_any(const char *path, const char *mode)
{
	if (wv_scope.opening && path && wv_provider_hides_file(path)) {
		errno = ENOENT;
		return NULL;
	}
	return REAL(fopen64)(path, mode);
}

WV_PUBLIC FILE *fopen(const char *path, const char *mode)
{
	return open_any(path, mode);
}

WV_PUBLIC FILE *fopen64(const char *path, const char *mode)
{
	return open_any(path, mode);
}
