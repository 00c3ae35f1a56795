/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/device_open.h"

#include "base/base.h"
#include "base/own_fd.h"
#include "cmdlog/adopt_memory.h"
#include "cmdlog/mr_steps.h"
#include "preload/client/daemon_connection.h"
#include "preload/client/lease_request.h"
#include "preload/client/provider_list.h"
#include "preload/core/context.h"
#include "preload/core/settings.h"
#include "preload/core/trace.h"
#include "preload/lease/lease_end.h"
#include "preload/lease/open_outcome.h"
#include "preload/memory/shared_blocks.h"
#include "preload/pairs/connections.h"
#include "preload/pairs/paired.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

/*
 * Whether @fd is a ufile whose device still exists. Only uverbs refuses an empty header with EINVAL
 * (ib_uverbs_ioctl()), and this takes a tenth of the time of querying the device.
 */
static bool is_ufile(int fd)
{
	struct ib_uverbs_ioctl_hdr empty = {0};

	return ioctl(fd, RDMA_VERBS_IOCTL, &empty) < 0 && errno == EINVAL;
}

static bool lease_fits(const struct wv_context *c, struct wv_msg_lease *msg,
		       const struct wv_fds *fds, dev_t rdev)
{
	struct wv_cmdlog *cmdlog = (struct wv_cmdlog *)(msg + 1);

	if (wv_cmdlog_check(msg + 1, msg->msg.bytes - sizeof(*msg), WV_LEASE) ||
	    msg->n_fds != cmdlog->n_fds || fds->n != 1u + cmdlog->n_fds + !!cmdlog->memory ||
	    !wv_paired_fits(cmdlog, &msg->pair))
		return false;
	return rdev && msg->rdev == rdev && is_ufile(fds->all[0]) &&
	       !memcmp(&c->provider, &msg->provider, sizeof(c->provider));
}

/*
 * Maps the memory of the lease, at @wanted if it can. NULL: the file is shorter than the command
 * log says, or cannot be mapped.
 */
static uint8_t *map_memory(int fd, size_t bytes, uint64_t wanted)
{
	struct stat st;
	void *at;

	if (fstat(fd, &st) || (uint64_t)st.st_size < bytes)
		return NULL;
	/*
	 * The provider and the device will use all of it, so it is populated here. The address is a
	 * hint, which the kernel follows if nothing is there: a sanitizer that keeps the range to
	 * itself ends programs that insist (MAP_FIXED_NOREPLACE).
	 */
	at = mmap((void *)(uintptr_t)wanted, bytes, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

static void track_lease(struct wv_context *c, const int *fds)
{
	wv_context_track(c, fds[0], WV_FD_COMMAND, 0);
	for (unsigned int i = 1; i <= c->lease.cmdlog->n_fds; i++) {
		c->lease.fds[i - 1] = fds[i];
		wv_context_track(c, fds[i], WV_FD_EVENTS, i - 1);
	}
}

/* Gives its memory to the lease. False: it cannot be mapped. */
static bool place_memory(struct wv_context *c, const struct wv_scope *scope, int fd)
{
	size_t bytes = c->lease.cmdlog->memory;
	uint64_t wanted = wv_lease_place_wanted(c->lease.cmdlog);
	uint8_t *memory = map_memory(fd, bytes, wanted);

	if (!memory)
		return false;
	close(fd);
	if (scope->maker)
		scope->maker->mapped(scope->maker->data, memory, wv_whole_pages(bytes), -1);
	wv_shared_block_note(memory, bytes);
	wv_lease_place(&c->lease, memory);
	if ((uintptr_t)memory != wanted)
		wv_lease_kill_registrations(&c->lease);
	return true;
}

/*
 * Makes the lease in @c->message, which came by @sock, the program's, and its descriptors the
 * context's. False: the lease cannot be used, and the descriptors stay the caller's.
 */
static bool take_lease(struct wv_context *c, const struct wv_scope *scope, struct wv_fds *fds,
		       int sock)
{
	const struct wv_msg_lease *message = (const void *)c->message;
	struct wv_cmdlog *cmdlog = (struct wv_cmdlog *)(message + 1);

	for (unsigned int i = 0; i <= cmdlog->n_fds; i++)
		if (!wv_fd_can_be_tracked(fds->all[i]))
			return false;
	if (!wv_fd_is_far_from_limit(fds->all[cmdlog->n_fds]))
		return false;
	wv_lease_init(&c->lease, cmdlog);
	c->lease.opening = c->opening;
	c->lease.any_vector = wv_settings()->any_vector;
	if (cmdlog->memory && !place_memory(c, scope, fds->all[1 + cmdlog->n_fds]))
		return false;
	track_lease(c, fds->all);
	fds->n = 0;
	if (message->pair.pair)
		wv_paired_begin(c, &message->pair, sock);
	wv_connections_begin(c, message->flags);
	c->mode = WV_LEASED;
	c->stopped = false;
	return true;
}

/* Keeps the daemon's constants of the device until ibv_open_device() has returned. */
static void keep_constants(struct wv_context *c, const struct wv_msg_no_lease *none)
{
	size_t bytes = none->msg.bytes - sizeof(*none);
	struct {
		struct wv_lease lease;
		_Alignas(8) uint8_t cmdlog[];
	} * kept;

	if (!c->opening || !bytes)
		return;
	kept = malloc(sizeof(*kept) + bytes);
	if (!kept)
		return;
	memcpy(kept->cmdlog, none + 1, bytes);
	if (wv_cmdlog_check(kept->cmdlog, bytes, WV_LEASE)) {
		free(kept);
		return;
	}
	wv_lease_init(&kept->lease, (struct wv_cmdlog *)kept->cmdlog);
	c->constants = &kept->lease;
}

static void start_recording(struct wv_context *c)
{
	struct wv_msg_record *head = (void *)c->message;

	wv_cmdlog_begin(&c->record, (void *)(head + 1), sizeof(c->message) - sizeof(*head),
			WV_RECORD, 0);
	c->mode = WV_RECORDING;
	c->stopped = false;
}

/* @type: of the answer, or -errno. */
static enum wv_no_lease why_no_lease(int type, const struct wv_msg_no_lease *none)
{
	if (type < 0)
		return WV_NO_LEASE_SILENT;
	return type == WV_MSG_NO_LEASE ? none->reason : WV_NO_LEASE_UNFIT;
}

/*
 * Waits for the answer to @r and applies it to @c. Returns the lease's command descriptor, or -1 if
 * the program is to use the node that this process opened itself.
 */
static int collect(struct wv_context *c, const struct wv_scope *scope, struct wv_lease_request *r)
{
	wv_auto_fds fds = {.n = 0};
	int type = wv_lease_request_answer(r, c->message, sizeof(c->message), &fds);
	struct wv_msg_no_lease *none = (void *)c->message;

	for (unsigned int i = 0; i < fds.n; i++)
		fds.all[i] = wv_fd_off_standard(fds.all[i]);
	if (type == WV_MSG_LEASE && lease_fits(c, (void *)c->message, &fds, r->rdev) &&
	    take_lease(c, scope, &fds, r->sock))
		return c->ufile;
	c->no_lease = why_no_lease(type, none);
	if (type == WV_MSG_NO_LEASE)
		keep_constants(c, none);
	if (type == WV_MSG_NO_LEASE && none->reason == WV_NO_LEASE_RECORD)
		start_recording(c);
	return -1;
}

/* Fills in a context from the answer to @r. Returns the descriptor for the program. */
static int fill_context(struct wv_context *c, const struct wv_scope *scope,
			struct wv_lease_request *r)
{
	int leased = r->sock >= 0 ? collect(c, scope, r) : -1;

	c->open_number = r->open_number;
	if (r->sock < 0 && wv_client_is_shut_out())
		c->no_lease = WV_NO_LEASE_CLOSED;
	else if (r->refused)
		c->no_lease = WV_NO_LEASE_UNFIT;
	if (leased >= 0) {
		c->node = r->node;
		wv_context_hide_fd(c->node);
	} else if (!wv_context_track(c, r->node, WV_FD_COMMAND, 0)) {
		c->mode = WV_PLAIN;
	}
	if (c->mode != WV_PLAIN) {
		c->sock = r->sock;
		wv_context_hide_fd(c->sock);
	} else {
		wv_close_fd(&r->sock);
	}
	return leased >= 0 ? leased : r->node;
}

/* A lease fits one provider. Without a known provider, no lease is requested. */
static int open_locked(const char *path, const struct wv_scope *scope)
{
	struct wv_build_id provider = {0};
	bool known = wv_provider_list_id(path, &provider);
	struct wv_lease_request r =
	    scope->maker ? wv_lease_request_make(path, known, scope->maker->open_number,
						 !scope->maker->is_user)
			 : wv_lease_request_take(path, known);
	struct wv_context *c = r.node < 0 ? NULL : wv_context_new(scope, wv_lease_end);

	if (!c) {
		wv_close_fd(&r.sock);
		return r.node;
	}
	c->provider = provider;
	if (!known && wv_client_why_unasked(path) == WV_REASON_NONE)
		c->no_lease = WV_NO_LEASE_PROVIDER;
	return fill_context(c, scope, &r);
}

int wv_device_open(const char *path, const struct wv_scope *scope)
{
	uint64_t start = wv_trace_now();
	int fd;

	if (!wv_provider_list_known()) {
		wv_provider_list_read();
		wv_provider_list_load(false);
	}
	wv_lock();
	fd = open_locked(path, scope);
	if (fd >= 0 && !scope->maker)
		wv_open_outcome_note(fd, path);
	wv_unlock();
	wv_trace_open(start, fd);
	return fd;
}
