/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/aside.h"

#include "abi/abi.h"
#include "preload/core/context.h"
#include "preload/core/counters.h"
#include "preload/lease/news.h"
#include "preload/lease/rollback.h"

#include <errno.h>
#include <sys/ioctl.h>

/* The provider may put the new object where the lease has one that nobody uses yet. */
static void end_rivals(struct wv_context *c, int fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));
	int saved = errno;

	wv_lock();
	if (c->mode == WV_LEASED && row)
		wv_rollback_rivals(fd, &c->lease, cmd, row);
	wv_unlock();
	errno = saved;
}

static bool has_unused_qps(const struct wv_context *c)
{
	wv_each_step (c->lease.cmdlog, step)
		if (step->state == WV_FREE && wv_abi_creates(wv_step_row(step), UVERBS_OBJECT_QP))
			return true;
	return false;
}

/* Whether the next queue pairs of the program are to be recorded, or come from the lease. */
static bool follows_qps(const struct wv_context *c)
{
	return wv_context_is_followed(c) &&
	       (c->mode == WV_RECORDING || (c->mode == WV_LEASED && has_unused_qps(c)));
}

bool wv_aside_may_add_qps(int fd)
{
	const struct wv_context *c;
	bool may;

	wv_lock();
	c = wv_context_of(fd);
	may = !c || !follows_qps(c);
	wv_unlock();
	return may;
}

int wv_aside_command(struct wv_context *context, int fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	end_rivals(context, fd, cmd);
	wv_count(&wv_counters.commands_kernel);
	return ioctl(fd, RDMA_VERBS_IOCTL, cmd);
}

void wv_aside_count_spare(int fd)
{
	struct wv_fd_entry file = wv_fd_get(fd);

	if (file.kind == WV_FD_COMMAND)
		__atomic_fetch_add(&wv_context_at(file.context)->spares, 1, __ATOMIC_RELAXED);
}

void wv_aside_report_spares(void)
{
	wv_lock();
	wv_each_context(c) if (c->files && !wv_context_is_inherited(c)) wv_news_spares(c);
	wv_unlock();
}
