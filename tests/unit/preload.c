#include "preload.h"

#include "fixture.h"
#include "preload/client/lease_request.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/core/trace.h"
#include "preload/lease/capabilities.h"
#include "preload/lease/control_path.h"

#define UFILE 3000 /* a number that this process has not open */

static struct preload *current;
static struct wv_context context;

uint32_t wv_fd_table[WV_MAX_FD];
uint32_t wv_n_fds;
uint32_t wv_births;

void wv_lock(void)
{
}

void wv_unlock(void)
{
}

struct wv_context *wv_context_at(uint16_t index)
{
	(void)index;
	return &context;
}

void wv_context_settle(struct wv_context *c)
{
	(void)c;
}

void wv_context_keep_lease(struct wv_context *c)
{
	(void)c;
}

void wv_context_give_back(struct wv_context *c, int fd)
{
	(void)c;
	(void)fd;
}

int real_ioctl(int fd, unsigned long request, void *arg)
{
	int error;

	assert_int_equal(fd, UFILE);
	assert_int_equal(request, RDMA_VERBS_IOCTL);
	error = fake_kernel_issue(current->kernel, arg);
	if (error)
		errno = error;
	return error ? -1 : 0;
}

uint64_t wv_trace_now(void)
{
	return 1;
}

void wv_trace_command(uint64_t start, const struct ib_uverbs_ioctl_hdr *cmd, uint32_t write_cmd,
		      enum wv_trace_how how, int error, struct wv_difference why)
{
	(void)start;
	(void)cmd;
	(void)write_cmd;
	(void)error;
	(void)why;
	assert_true(current->n_trail < sizeof(current->trail) - 1);
	current->trail[current->n_trail++] = how == WV_HOW_ADOPTED ? 'a' : 'k';
}

void wv_trace_rollback(uint64_t start, enum wv_trace_kind kind, uint16_t object, int error)
{
	(void)start;
	(void)object;
	assert_int_equal(error, 0);
	if (kind == WV_TRACE_ROLLBACK)
		current->rollbacks++;
	else
		current->purges++;
}

void preload_begin(struct preload *p, struct fake_kernel *kernel, struct wv_cmdlog *lease,
		   const struct wv_replay *replay)
{
	struct wv_fd_entry file = {.kind = WV_FD_COMMAND};

	*p = (struct preload){.kernel = kernel, .lease = &context.lease};
	memset(&context, 0, sizeof(context));
	memcpy(&wv_fd_table[UFILE], &file, sizeof(file));
	wv_n_fds = 1;
	current = p;
	context.mode = lease ? WV_LEASED : WV_PLAIN;
	context.sock = -1;
	if (!lease)
		return;
	wv_lease_init(&context.lease, lease);
	/* Sent to another process, they have other numbers there. */
	for (unsigned int i = 0; i < replay->n_fds; i++) {
		context.lease.fds[i] = dup(replay->fds[i]);
		close(replay->fds[i]);
	}
}

int preload_issue(void *preload, struct ib_uverbs_ioctl_hdr *cmd)
{
	assert_ptr_equal(preload, current);
	return wv_control_path(UFILE, cmd) ? errno : 0;
}

/* This program has no rights of its own, and so nothing to take back. */
bool wv_has_raw_capabilities(void)
{
	return false;
}

void wv_client_retract(const struct wv_context *c)
{
	(void)c;
}
