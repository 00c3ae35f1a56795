/* mmap(), of a thread that makes objects ahead: what is mapped belongs to its set. */
#undef _FILE_OFFSET_BITS

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/prefork/set_resources.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/mman.h>

/*
 * Pages of an adapter are marked VM_IO, memory of the kernel is not. Which it is, is known of
 * soft-RoCE (drivers/infiniband/sw/rxe/rxe_mmap.c, rxe_mmap()).
 */
static enum wv_range_kind kind_of(int fd)
{
	/* Without the lock, which this thread may hold: the context is its own. */
	const struct wv_context *c = wv_context_of(fd);

	if (!c)
		return WV_RANGE_QUEUES;
	return c->driver_id == RDMA_DRIVER_RXE ? WV_RANGE_KERNEL : WV_RANGE_IO;
}

WV_UNSANITIZED static void *map_any(void *hint, size_t bytes, int protection, int flags, int fd,
				    off64_t offset)
{
	void *at = real_mmap(hint, bytes, protection, flags, fd, offset);

	if (wv_making && at != MAP_FAILED && flags & MAP_SHARED)
		wv_resources_add_range(wv_making, at, wv_whole_pages(bytes), kind_of(fd));
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
