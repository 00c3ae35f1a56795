/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/event_handles.h"

#include "preload/core/context.h"

#include <string.h>
#include <unistd.h>

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
