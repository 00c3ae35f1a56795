/* Closing descriptors that are mostly side by side, with few calls. */
#pragma once

struct wv_fd_range {
	unsigned int first, last;
};

#define WV_NO_FDS                                                                                  \
	{                                                                                          \
		1, 0                                                                               \
	}

/* Closes @fd, now or with those that follow it; it is tracked no more. Nothing if @fd is negative.
 */
void wv_fd_range_close(struct wv_fd_range *range, int fd);

/* Closes those that are still to be closed. */
void wv_fd_range_flush(const struct wv_fd_range *range);
