/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/trace.h"

#include "abi/qp.h"
#include "base/base.h"
#include "base/own_fd.h"
#include "preload/core/fd_table.h"
#include "preload/core/guard.h"
#include "preload/core/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int file = -1;

/* The program may use the number for another file next. */
static void closed(int fd)
{
	(void)fd;
	file = -1;
}

void wv_trace_begin(void)
{
	static const struct wv_fd_owner owner = {.closed = closed};
	const char *path = wv_settings()->trace;

	if (path)
		file = wv_fd_off_standard(
		    open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (file >= 0 && !wv_fd_hide(file, &owner))
		wv_close_fd(&file);
}

void wv_trace_begin_anew(void)
{
	if (file >= 0)
		wv_fd_untrack(file);
	file = -1;
	wv_trace_begin();
}

bool wv_trace_is_on(void)
{
	return file >= 0;
}

uint64_t wv_trace_now(void)
{
	struct timespec now;

	if (file < 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Does nothing if @start is 0: nothing is traced. */
static void put(uint64_t start, struct wv_trace *record)
{
	int saved = errno;

	if (!start)
		return;
	record->magic = WV_TRACE_MAGIC;
	record->pid = (uint32_t)getpid();
	record->tid = (uint32_t)syscall(SYS_gettid);
	record->start = start;
	record->end = wv_trace_now();
	wv_guard_begin();
	if (write(file, record, sizeof(*record)) < 0) {
		/* A trace that cannot be written must not disturb the program. */
	}
	wv_guard_end();
	errno = saved;
}

void wv_trace_list(uint64_t start)
{
	put(start, &(struct wv_trace){.kind = WV_TRACE_LIST});
}

void wv_trace_open(uint64_t start, int fd)
{
	struct wv_fd_entry entry = wv_fd_get(fd);
	struct wv_trace record = {.kind = WV_TRACE_OPEN, .error = fd < 0 ? -fd : 0};

	if (!start)
		return;
	if (entry.kind == WV_FD_COMMAND) {
		const struct wv_context *c = wv_context_at(entry.context);

		record.how = c->mode == WV_LEASED      ? WV_HOW_ADOPTED
			     : c->mode == WV_RECORDING ? WV_HOW_RECORDED
						       : WV_HOW_KERNEL;
		record.no_lease = (uint16_t)c->no_lease;
	}
	put(start, &record);
}

void wv_trace_preforked(uint64_t start)
{
	put(start, &(struct wv_trace){.kind = WV_TRACE_OPEN, .how = WV_HOW_PREFORKED});
}

static uint16_t qp_state_asked(const struct ib_uverbs_ioctl_hdr *cmd, uint32_t write_cmd)
{
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, write_cmd);

	return row && row->class_ == WV_MODIFY ? (uint16_t)wv_command_qp_state(cmd) : 0;
}

void wv_trace_command(uint64_t start, const struct ib_uverbs_ioctl_hdr *cmd, uint32_t write_cmd,
		      enum wv_trace_how how, int error, struct wv_difference why)
{
	struct wv_trace record = {
	    .kind = WV_TRACE_COMMAND,
	    .how = (uint16_t)how,
	    .driver_id = cmd->driver_id,
	    .object = cmd->object_id,
	    .method = cmd->method_id,
	    .write_cmd = write_cmd,
	    .error = error,
	    .why = why,
	};

	if (!start)
		return;
	record.qp_state = qp_state_asked(cmd, write_cmd);
	put(start, &record);
}

void wv_trace_ahead(uint64_t start, enum wv_trace_how how, uint16_t state)
{
	struct wv_trace record = {
	    .kind = WV_TRACE_COMMAND,
	    .how = (uint16_t)how,
	    .object = UVERBS_OBJECT_QP,
	    .method = UVERBS_METHOD_QP_CREATE,
	    .write_cmd = WV_NO_WRITE_CMD,
	};

	if (state != IBV_QPS_RESET) {
		record.object = UVERBS_OBJECT_DEVICE;
		record.method = UVERBS_METHOD_INVOKE_WRITE;
		record.write_cmd = IB_USER_VERBS_CMD_MODIFY_QP;
		record.qp_state = state;
	}
	put(start, &record);
}

void wv_trace_rollback(uint64_t start, enum wv_trace_kind kind, uint16_t object, int error)
{
	struct wv_trace record = {
	    .kind = (uint16_t)kind,
	    .object = object,
	    .write_cmd = WV_NO_WRITE_CMD,
	    .error = error,
	};

	put(start, &record);
}

void wv_trace_copied(uint32_t lkey)
{
	struct wv_trace record = {
	    .kind = WV_TRACE_COPIED,
	    .write_cmd = WV_NO_WRITE_CMD,
	    .why = {.offset = lkey},
	};

	put(wv_trace_now(), &record);
}
