/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/aside.h"

#include "abi/abi.h"
#include "preload/core/context.h"
#include "preload/core/counters.h"
#include "preload/lease/rollback.h"

#include <errno.h>
#include <sys/ioctl.h>

/* The provider may put the new object where the lease has one that nobody uses yet. */
static void end_rivals(int fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct wv_context *c = wv_context_at(wv_fd_get(fd).context);
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));
	int saved = errno;

	wv_lock();
	if (c->mode == WV_LEASED && row)
		wv_rollback_rivals(fd, &c->lease, cmd, row);
	wv_unlock();
	errno = saved;
}

int wv_aside_command(int fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	end_rivals(fd, cmd);
	wv_count(&wv_counters.commands_kernel);
	return ioctl(fd, RDMA_VERBS_IOCTL, cmd);
}
