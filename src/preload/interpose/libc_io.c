/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that libibverbs and its providers make on an open ufile. mmap() is interposed for a
 * thread that makes objects ahead, since what a provider maps belongs to their set, and to learn
 * where a provider maps the receives of a queue pair.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include "abi/abi.h"
#include "base/base.h"
#include "cmdlog/command.h"
#include "preload/core/context.h"
#include "preload/core/fd_table.h"
#include "preload/core/process.h"
#include "preload/core/provider.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"
#include "preload/lease/aside.h"
#include "preload/lease/control_path.h"
#include "preload/lease/read_write.h"
#include "preload/prefork/zygote.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_a(enum wv_fd_kind kind, int fd)
{
	return wv_fd_get(fd).kind == kind && wv_process_is_adopted();
}

/*
 * A number that the kernel has just given out belongs to nobody else: a set that has it has lost
 * it, closed unseen by this library.
 */
static void note_made(const struct wv_maker *maker, const struct ib_uverbs_ioctl_hdr *cmd)
{
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));
	uint32_t made = row ? wv_command_made(cmd, row, WV_NEW_FD) : WV_NONE;

	if (made == WV_NONE)
		return;
	if (maker)
		maker->opened(maker->data, (int)made);
	else if (wv_fd_get((int)made).kind == WV_FD_PRIVATE)
		wv_context_close((int)made);
}

WV_PUBLIC int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	int result;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL && wv_scope.answer)
		return wv_scope.answer(arg);
	if (request != RDMA_VERBS_IOCTL || !is_a(WV_FD_COMMAND, fd))
		return REAL(ioctl)(fd, request, arg);
	result = wv_scope.aside ? wv_aside_command(fd, arg) : wv_control_path(fd, arg);
	/* Other commands are spared the search in the table of the ABI. */
	if (!result && (wv_scope.maker || wv_zygote_is_on()))
		note_made(wv_scope.maker, arg);
	return result;
}

WV_PUBLIC ssize_t write(int fd, const void *buffer, size_t bytes)
{
	if (is_a(WV_FD_COMMAND, fd))
		return wv_doorbell(fd, buffer, bytes);
	return REAL(write)(fd, buffer, bytes);
}

WV_PUBLIC ssize_t read(int fd, void *buffer, size_t bytes)
{
	if (is_a(WV_FD_EVENTS, fd))
		return wv_read_event(fd, buffer, bytes);
	return REAL(read)(fd, buffer, bytes);
}

/* Called by the fortified headers, with the size of the buffer. */
WV_PUBLIC ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
WV_PUBLIC ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room)
{
	return bytes <= room && is_a(WV_FD_EVENTS, fd) ? wv_read_event(fd, buffer, bytes)
						       : REAL(__read_chk)(fd, buffer, bytes, room);
}

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
