/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmap(), for a thread that makes objects ahead: what a provider maps belongs to their set. And to
 * learn where a provider maps the receives of a queue pair.
 */
#undef _FILE_OFFSET_BITS

#include "base/base.h"
#include "preload/core/fd_table.h"
#include "preload/core/provider.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"

WV_UNSANITIZED static void *map_any(void *hint, size_t bytes, int protection, int flags, int fd,
				    off64_t offset)
{
	const struct wv_maker *maker = wv_scope.maker;
	struct wv_ring *ring = wv_scope.ring;
	void *at = REAL(mmap64)(hint, bytes, protection, flags, fd, offset);

	if (maker && at != MAP_FAILED && flags & MAP_SHARED)
		maker->mapped(maker->data, at, wv_whole_pages(bytes), fd);
	if (ring && at != MAP_FAILED && flags & MAP_SHARED && ring->bytes == bytes &&
	    ring->offset == (uint64_t)offset && wv_fd_get(fd).kind == WV_FD_COMMAND) {
		ring->at = at;
		wv_scope.ring = NULL;
	}
	return at;
}

WV_UNSANITIZED WV_PUBLIC void *mmap(void *hint, size_t bytes, int protection, int flags, int fd,
				    off_t offset)
{
	return map_any(hint, bytes, protection, flags, fd, offset);
}

WV_UNSANITIZED WV_PUBLIC void *mmap64(void *hint, size_t bytes, int protection, int flags, int fd,
				      off64_t offset)
{
	return map_any(hint, bytes, protection, flags, fd, offset);
}
