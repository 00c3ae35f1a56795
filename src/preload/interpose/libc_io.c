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

static bool has_events(int fd)
{
	return wv_fd_get(fd).kind == WV_FD_EVENTS && wv_process_is_adopted();
}

/*
 * The context that the program has opened as @fd; NULL if it is none that this library looks at.
 * Looks at the table first: to ask whose process this is may take a system call, for which the
 * sandbox of a program may kill it.
 */
static struct wv_context *context_of(int fd)
{
	struct wv_context *c = wv_context_of(fd);

	return c && wv_process_is_adopted() ? c : NULL;
}

static void note_made(const struct wv_maker *maker, int fd, const struct ib_uverbs_ioctl_hdr *cmd)
{
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));
	uint32_t made = row ? wv_command_made(cmd, row, WV_NEW_FD) : WV_NONE;

	if (made == WV_NONE)
		return;
	wv_context_lose_number((int)made, fd);
	if (maker)
		maker->opened(maker->data, (int)made);
}

WV_PUBLIC int ioctl(int fd, unsigned long request, ...)
{
	struct wv_context *context;
	va_list args;
	void *arg;
	int result;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL && wv_scope.answer)
		return wv_scope.answer(arg);
	context = request == RDMA_VERBS_IOCTL ? context_of(fd) : NULL;
	if (!context)
		return REAL(ioctl)(fd, request, arg);
	result =
	    wv_scope.aside ? wv_aside_command(context, fd, arg) : wv_control_path(context, fd, arg);
	/* Other commands are spared the search in the table of the ABI. */
	if (!result && (wv_scope.maker || wv_zygote_is_on()))
		note_made(wv_scope.maker, fd, arg);
	return result;
}

WV_PUBLIC ssize_t write(int fd, const void *buffer, size_t bytes)
{
	const struct wv_context *context = context_of(fd);

	if (context)
		return wv_doorbell(context, fd, buffer, bytes);
	return REAL(write)(fd, buffer, bytes);
}

WV_PUBLIC ssize_t read(int fd, void *buffer, size_t bytes)
{
	if (has_events(fd))
		return wv_read_event(fd, buffer, bytes);
	return REAL(read)(fd, buffer, bytes);
}

/* Called by the fortified headers, with the size of the buffer. */
WV_PUBLIC ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
WV_PUBLIC ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room)
{
	return bytes <= room && has_events(fd) ? wv_read_event(fd, buffer, bytes)
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
