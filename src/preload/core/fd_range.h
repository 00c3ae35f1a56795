/* SPDX-License-Identifier: BSD-2-Clause */
/* Closes descriptors, most of which are consecutive numbers, with few system calls. */
#pragma once

struct wv_fd_range {
	unsigned int first, last;
};

#define WV_NO_FDS                                                                                  \
	{                                                                                          \
		1, 0                                                                               \
	}

/*
 * Stops tracking @fd, and closes it now or together with the descriptors after it. Ignores a
 * negative @fd.
 */
void wv_fd_range_close(struct wv_fd_range *range, int fd);

/* Closes the descriptors that are still open. */
void wv_fd_range_flush(const struct wv_fd_range *range);
