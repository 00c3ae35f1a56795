/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that libibverbs and its providers make on an open ufile. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include "base/base.h"
#include "preload/core/fd_table.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"
#include "preload/lease/aside.h"
#include "preload/lease/control_path.h"
#include "preload/lease/read_write.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_a(enum wv_fd_kind kind, int fd)
{
	return wv_fd_get(fd).kind == kind && wv_process_is_adopted();
}

WV_PUBLIC int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL && wv_scope.answer)
		return wv_scope.answer(arg);
	if (request != RDMA_VERBS_IOCTL || !is_a(WV_FD_COMMAND, fd))
		return REAL(ioctl)(fd, request, arg);
	return wv_scope.aside ? wv_aside_command(fd, arg) : wv_control_path(fd, arg);
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
