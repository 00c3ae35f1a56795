/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors that have one owner together, such as those of a lease. */
#pragma once

#include "base/base.h"

#define WV_FDS_MOST 34

struct wv_fds {
	unsigned int n;
	int all[WV_FDS_MOST];
};

/* Closes what is in @fds, the latest first. */
static inline void wv_fds_close(struct wv_fds *fds)
{
	while (fds->n)
		close(fds->all[--fds->n]);
}

/* For a local variable. The descriptors have another owner once n is 0. */
#define wv_auto_fds wv_cleanup(wv_fds_close) struct wv_fds
