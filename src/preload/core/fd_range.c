/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/fd_range.h"

#include "preload/core/fd_table.h"

#include <unistd.h>

void wv_fd_range_flush(const struct wv_fd_range *range)
{
	if (range->first > range->last || !close_range(range->first, range->last, 0))
		return;
	for (unsigned int fd = range->first; fd <= range->last; fd++)
		close((int)fd);
}

void wv_fd_range_close(struct wv_fd_range *range, int fd)
{
	if (fd < 0)
		return;
	wv_fd_untrack(fd);
	if ((unsigned int)fd == range->last + 1) {
		range->last++;
		return;
	}
	wv_fd_range_flush(range);
	*range = (struct wv_fd_range){(unsigned int)fd, (unsigned int)fd};
}
