/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload.h"

#include "base/base.h"
#include "fixture.h"
#include "preload/core/context.h"
#include "preload/core/process.h"
#include "preload/core/trace.h"
#include "preload/lease/control_path.h"
#include "preload/lease/lease_end.h"
#include "preload/lease/news.h"
#include "preload/pairs/connections.h"
#include "preload/pairs/paired.h"
#include "wire/trace_record.h"

#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static struct preload *current;
static struct wv_context *context;
static int trace = -1; /* what the preload says it did */

/* Of the preload too, since it is linked into this program. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	int error;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (fd != PRELOAD_UFILE)
		return (int)syscall(SYS_ioctl, fd, request, arg);
	assert_int_equal(request, RDMA_VERBS_IOCTL);
	error = fake_kernel_issue(current->kernel, arg);
	if (error)
		errno = error;
	return error ? -1 : 0;
}

/* Before tests count descriptors. */
__attribute__((constructor)) static void begin_trace(void)
{
	char path[] = "/tmp/warmverbs-trace-XXXXXX";

	wv_process_adopt();
	trace = mkstemp(path);
	setenv(WV_TRACE_ENV, path, 1);
	wv_trace_begin();
	unlink(path);
}

static void read_trace(struct preload *p)
{
	struct wv_trace record;

	while (read(trace, &record, sizeof(record)) == sizeof(record)) {
		if (record.kind == WV_TRACE_COMMAND) {
			assert_true(p->n_trail < sizeof(p->trail) - 1);
			p->why = record.why.why;
			p->trail[p->n_trail++] = record.how == WV_HOW_KERNEL ? 'k' : 'a';
			continue;
		}
		assert_int_equal(record.error, 0);
		if (record.kind == WV_TRACE_ROLLBACK)
			p->rollbacks++;
		else
			p->purges++;
	}
}

/* Tracks no more what the last test had; its lease is in memory that is gone. */
static void end_last(void)
{
	if (!context)
		return;
	for (unsigned int i = 0; context->mode == WV_LEASED && i < WV_CMDLOG_MAX_FDS; i++) {
		int fd = context->lease.fds[i];

		context->lease.fds[i] = -1;
		if (wv_fd_get(fd).kind == WV_FD_EVENTS)
			wv_context_close(fd);
	}
	context->mode = WV_PLAIN;
	context->lease.memory = NULL;
	wv_context_close(PRELOAD_UFILE);
}

static void take_lease(struct wv_cmdlog *lease, const struct wv_replay *replay)
{
	context->mode = WV_LEASED;
	context->stopped = false;
	wv_lease_init(&context->lease, lease);
	/* Sent to another process, they have other numbers there. */
	for (unsigned int i = 0; i < replay->n_fds; i++) {
		context->lease.fds[i] = dup(replay->fds[i]);
		close(replay->fds[i]);
		wv_context_track(context, context->lease.fds[i], WV_FD_EVENTS, i);
	}
}

void preload_begin(struct preload *p, struct fake_kernel *kernel, struct wv_cmdlog *lease,
		   const struct wv_replay *replay)
{
	static const struct wv_scope scope;

	assert_true(wv_trace_is_on());
	end_last();
	context = wv_context_new(&scope, wv_lease_end);
	assert_true(wv_context_track(context, PRELOAD_UFILE, WV_FD_COMMAND, 0));
	*p = (struct preload){.kernel = kernel, .lease = &context->lease};
	current = p;
	if (lease)
		take_lease(lease, replay);
}

int preload_pair(const struct wv_lease_pair *pair, uint32_t flags)
{
	int ends[2];

	assert_true(wv_paired_fits(context->lease.cmdlog, pair));
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	context->sock = ends[0];
	wv_context_hide_fd(context->sock);
	if (pair->pair)
		wv_paired_begin(context, pair, context->sock);
	wv_connections_begin(context, flags);
	return ends[1];
}

void preload_settle(void)
{
	wv_news_settle(context);
}

int preload_issue(void *preload, struct ib_uverbs_ioctl_hdr *cmd)
{
	int error;

	assert_ptr_equal(preload, current);
	error = wv_control_path(wv_context_of(PRELOAD_UFILE), PRELOAD_UFILE, cmd) ? errno : 0;
	read_trace(current);
	return error;
}
