/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/doorbell.h"

#include "abi/data_path.h"
#include "preload/core/context.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

static ssize_t ring_by_ioctl(int fd, uint32_t driver_id, const struct ib_uverbs_cmd_hdr *hdr,
			     size_t bytes)
{
	struct wv_posted cmd;

	wv_posted_fill(&cmd, driver_id, hdr, bytes);
	return ioctl(fd, RDMA_VERBS_IOCTL, &cmd) < 0 ? -1 : (ssize_t)bytes;
}

static bool is_of_another(const struct wv_context *c)
{
	return c->mode == WV_LEASED || wv_context_is_inherited(c);
}

ssize_t wv_doorbell(int fd, const void *buffer, size_t bytes)
{
	const struct wv_context *c = wv_context_at(wv_fd_get(fd).context);
	const struct ib_uverbs_cmd_hdr *hdr = buffer;
	bool can_be_ioctl = wv_can_be_ioctl(hdr, bytes);
	int saved = errno;
	ssize_t written;

	if (can_be_ioctl && is_of_another(c))
		return ring_by_ioctl(fd, c->driver_id, hdr, bytes);
	written = write(fd, buffer, bytes);
	if (written >= 0 || errno != EACCES || !can_be_ioctl)
		return written;
	errno = saved;
	return ring_by_ioctl(fd, c->driver_id, hdr, bytes);
}
