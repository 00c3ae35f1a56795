/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/read_write.h"

#include "abi/data_path.h"
#include "preload/core/context.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
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

ssize_t wv_doorbell(const struct wv_context *c, int fd, const void *buffer, size_t bytes)
{
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

/* Both kinds of event begin with the user handle (ib_user_verbs.h). */
_Static_assert(offsetof(struct ib_uverbs_comp_event_desc, cq_handle) == 0, "completion event");
_Static_assert(offsetof(struct ib_uverbs_async_event_desc, element) == 0, "async event");

/*
 * Replaces the handle. Returns 0 if the event is about an object that the program never created, so
 * that the program must not see it.
 */
static int translate(int fd, void *buffer)
{
	struct wv_fd_entry file = wv_fd_get(fd);
	uint64_t handle;
	int known;

	memcpy(&handle, buffer, sizeof(handle));
	if (file.kind != WV_FD_EVENTS || !WV_IS_TOKEN(handle))
		return 1;
	wv_lock();
	known = wv_lease_translate(&wv_context_at(file.context)->lease, &handle);
	wv_unlock();
	memcpy(buffer, &handle, sizeof(handle));
	return known;
}

ssize_t wv_read_event(int fd, void *buffer, size_t bytes)
{
	ssize_t got;

	/* One read returns one event (ib_uverbs_event_read()). */
	do
		got = read(fd, buffer, bytes);
	while (got >= (ssize_t)sizeof(uint64_t) && !translate(fd, buffer));
	return got;
}
