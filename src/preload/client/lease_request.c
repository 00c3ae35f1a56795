/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/lease_request.h"

#include "base/base.h"
#include "base/clock.h"
#include "base/own_fd.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"
#include "preload/core/process.h"
#include "wire/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An open made ahead is not urgent, but a fork may be waiting for the thread that makes it. */
#define AHEAD_WAIT_MS 5

/* The pending request, for the next open of its path; at most one. */
static struct {
	struct wv_lease_request request;
	uid_t user;	 /* who asked, with the rights of then */
	uint64_t cookie; /* of the socket */
	char path[64];
} pending = {.request = {.node = -1, .sock = -1}};

static uint32_t n_opens; /* of RDMA devices by this process */

/*
 * The program has listed devices without opening one, and is likely to do it again (UCX does, three
 * times), so it is of no use to ask in advance.
 */
static bool lists_in_vain;

static int open_node(const char *path)
{
	int fd = wv_fd_off_standard(open(path, O_RDWR | O_CLOEXEC));

	return fd < 0 ? -errno : fd;
}

static dev_t rdev_of(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode) ? st.st_rdev : 0;
}

static bool should_ask(const char *path)
{
	return wv_client_why_unasked(path) == WV_REASON_NONE;
}

/* Returns the socket, or -1. A socket that could not be tracked is of no use. */
static int ask_for_lease(int node, uint32_t open_number, uint32_t flags)
{
	wv_auto_fd sock = wv_client_ask(node, open_number, flags);

	if (sock < 0)
		wv_client_note_silence();
	return sock >= 0 && wv_fd_can_be_tracked(sock) ? wv_steal_fd(&sock) : -1;
}

static struct wv_lease_request make(const char *path, bool ask, uint32_t open_number,
				    uint32_t flags)
{
	struct wv_lease_request r = {
	    .node = open_node(path), .sock = -1, .open_number = open_number};

	if (r.node < 0 || !ask)
		return r;
	r.rdev = rdev_of(r.node);
	if (wv_fd_can_be_tracked(r.node))
		r.sock = ask_for_lease(r.node, open_number, flags);
	return r;
}

static struct wv_lease_request make_if_possible(const char *path, bool ask, uint32_t open_number)
{
	bool wanted = ask && should_ask(path);
	struct wv_lease_request r = make(path, wanted && wv_fds_are_plenty(), open_number,
					 lists_in_vain ? WV_REQUEST_LISTED : 0);

	r.refused = wanted && r.sock < 0;
	return r;
}

struct wv_lease_request wv_lease_request_make(const char *path, bool ask, uint32_t open_number,
					      bool ahead)
{
	struct wv_lease_request r = make_if_possible(path, ask, open_number);

	r.ahead = ahead;
	return r;
}

static void forget(int *fd)
{
	wv_fd_untrack(*fd);
	*fd = -1;
}

/* Leaves alone what is the program's by now: it may have closed all descriptors without libc. */
static void forget_lost(void)
{
	struct wv_lease_request *r = &pending.request;

	if (r->sock >= 0 && wv_socket_cookie(r->sock) != pending.cookie)
		forget(&r->sock);
	if (r->node >= 0 && rdev_of(r->node) != r->rdev)
		forget(&r->node);
}

static void drop_pending(void)
{
	forget_lost();
	wv_fd_close_private(&pending.request.sock);
	wv_fd_close_private(&pending.request.node);
}

/* The program closed the node or the socket, which it does not know. */
static void closed(int fd)
{
	if (fd == pending.request.sock)
		pending.request.sock = -1;
	if (fd == pending.request.node)
		pending.request.node = -1;
	drop_pending();
}

static void begin(const char *path)
{
	static const struct wv_fd_owner owner = {.closed = closed};
	struct wv_lease_request *r = &pending.request;

	if (lists_in_vain || r->sock >= 0 || !should_ask(path) || !wv_fds_are_plenty() ||
	    !wv_copy_string(pending.path, sizeof(pending.path), path))
		return;
	*r = make(path, true, n_opens, WV_REQUEST_AHEAD);
	pending.user = geteuid();
	pending.cookie = wv_socket_cookie(r->sock);
	if (r->node < 0) {
		r->node = -1;
	} else if (r->sock < 0) {
		wv_close_fd(&r->node);
	} else {
		wv_fd_hide(r->node, &owner);
		wv_fd_hide(r->sock, &owner);
	}
}

void wv_lease_request_begin(const char *path)
{
	int saved = errno;

	wv_lock();
	begin(path);
	wv_unlock();
	errno = saved;
}

void wv_lease_request_drop(void)
{
	int saved = errno;

	if (!wv_process_is_adopted())
		return;
	wv_lock();
	lists_in_vain |= pending.request.sock >= 0;
	drop_pending();
	wv_unlock();
	errno = saved;
}

struct wv_lease_request wv_lease_request_take(const char *path, bool ask)
{
	struct wv_lease_request r;
	uint32_t number = n_opens++;

	forget_lost();
	r = pending.request;
	if (!ask || r.sock < 0 || r.node < 0 || strcmp(pending.path, path) ||
	    pending.user != geteuid()) {
		drop_pending();
		return make_if_possible(path, ask, number);
	}
	wv_fd_untrack(r.node);
	wv_fd_untrack(r.sock);
	pending.request.node = pending.request.sock = -1;
	return r;
}

static int64_t wait_ms(const struct wv_lease_request *r)
{
	return r->ahead ? AHEAD_WAIT_MS : WV_WAIT_MS;
}

static bool is_put_off(int type, const struct wv_msg_no_lease *answer)
{
	return type == WV_MSG_NO_LEASE && answer->reason == WV_NO_LEASE_LATER;
}

/* Asks anew, after an answer that came with @fds, whatever they are. */
static bool ask_again(struct wv_lease_request *r, struct wv_fds *fds)
{
	wv_fds_close(fds);
	wv_close_fd(&r->sock);
	r->sock = ask_for_lease(r->node, r->open_number, 0);
	return r->sock >= 0;
}

static uint32_t flags_of(int type, const void *answer)
{
	if (type == WV_MSG_LEASE)
		return ((const struct wv_msg_lease *)answer)->flags;
	return type == WV_MSG_NO_LEASE ? ((const struct wv_msg_no_lease *)answer)->flags : 0;
}

int wv_lease_request_answer(struct wv_lease_request *r, void *message, size_t capacity,
			    struct wv_fds *fds)
{
	int64_t end = (int64_t)wv_clock_ms() + wait_ms(r), left;
	int type = wv_receive(r->sock, (int)wait_ms(r), message, capacity, fds);

	if (is_put_off(type, message) && ask_again(r, fds)) {
		left = end - (int64_t)wv_clock_ms();
		type = wv_receive(r->sock, left > 0 ? (int)left : 0, message, capacity, fds);
	}
	if (type >= 0)
		wv_client_note_answer(flags_of(type, message));
	else if (!r->ahead)
		wv_client_note_silence();
	return type;
}

void wv_lease_request_retract(int ufile, uint32_t open_number)
{
	wv_auto_fd sock =
	    should_ask(NULL) ? wv_client_ask(ufile, open_number, WV_REQUEST_UNFIT) : -1;

	(void)sock; /* there is no answer */
}

bool wv_has_raw_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[CAP_TO_INDEX(CAP_NET_RAW)].effective & CAP_TO_MASK(CAP_NET_RAW) ||
	       data[CAP_TO_INDEX(CAP_SYS_RAWIO)].effective & CAP_TO_MASK(CAP_SYS_RAWIO);
}

void wv_lease_request_forked(void)
{
	drop_pending();
}
