/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/pool_request.h"

#include "base/base.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"
#include "preload/providers.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Guarded by the lock of the control path. */
static struct {
	int sock; /* -1: there is none */
	uint32_t asked, granted, ready;
} request = {.sock = -1};

/* The program closed the connection, which it does not know: the request has ended. */
static void closed(int fd)
{
	(void)fd;
	request.sock = -1;
}

static int connect_locked(void)
{
	static const struct wv_fd_owner owner = {.closed = closed};
	wv_auto_fd sock = -1;

	if (request.sock >= 0)
		return 0;
	sock = wv_client_connect();
	if (sock < 0)
		return sock;
	/*
	 * If it were not tracked, the number might be another file of the program by the time it is
	 * closed.
	 */
	if (!wv_fd_hide(sock, &owner))
		return -EMFILE;
	request.sock = wv_steal_fd(&sock);
	return 0;
}

/* Fills in the message. False: this program has no libibverbs, so it can have no leases. */
static bool describe(struct wv_msg_pool *message, unsigned int leases)
{
	static const struct wv_build_id none;

	wv_client_describe(&message->program, 0, 0);
	wv_msg_init(&message->program.msg, WV_MSG_POOL, sizeof(*message));
	message->leases = leases;
	message->reserved = 0;
	return memcmp(&message->program.verbs, &none, sizeof(none));
}

static int receive_locked(uint32_t leases)
{
	struct wv_msg_pool_state state;
	int fds[WV_WIRE_MAX_FDS];
	unsigned int n_fds = 0;
	int type = wv_client_receive(request.sock, WV_WAIT_MS, &state, sizeof(state), fds, &n_fds);

	for (unsigned int i = 0; i < n_fds; i++)
		close(fds[i]);
	if (type != WV_MSG_POOL_STATE)
		return type < 0 ? type : -EPROTO;
	request.asked = leases;
	request.granted = state.granted;
	request.ready = state.ready;
	return 0;
}

/*
 * After any error the connection is closed: a late answer would be taken for the answer to the next
 * request.
 */
static int ask_locked(const struct wv_msg_pool *message)
{
	int err = connect_locked();

	if (!err)
		err = wv_send(request.sock, message, sizeof(*message), NULL, 0, NULL, 0);
	if (!err)
		err = receive_locked(message->leases);
	if (err)
		wv_fd_close_private(&request.sock);
	return err;
}

/* A pool is useless to a program that would not ask for leases. */
static bool is_of_use(void)
{
	enum wv_reason reason = wv_client_why_unasked();

	return (reason == WV_REASON_NONE || reason == WV_REASON_NO_DAEMON) &&
	       !wv_provider_queues_are_chosen();
}

int wv_client_request_pool(unsigned int leases)
{
	struct wv_msg_pool message;
	bool again;
	int err;

	if (!leases)
		return -EINVAL;
	if (!is_of_use())
		return -EOPNOTSUPP;
	if (!describe(&message, leases))
		return -ENOSYS;
	wv_lock();
	again = request.sock >= 0;
	err = ask_locked(&message);
	/* The daemon may have been restarted since the last request. */
	if (again && (err == -EPIPE || err == -ECONNRESET))
		err = ask_locked(&message);
	wv_unlock();
	return err;
}

void wv_client_end_pool(void)
{
	wv_lock();
	wv_fd_close_private(&request.sock);
	wv_unlock();
}

/*
 * Whether the request is still in force. A daemon that ends closes the connection, and sends
 * nothing before.
 */
static bool is_in_force(void)
{
	char byte;

	return request.sock >= 0 && recv(request.sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       errno == EAGAIN;
}

void wv_client_pool_state(struct wv_status *status)
{
	wv_lock();
	if (is_in_force()) {
		status->pool_asked = request.asked;
		status->pool_granted = request.granted;
		status->pool_ready = request.ready;
	}
	wv_unlock();
}

void wv_client_pool_forked(void)
{
	wv_fd_close_private(&request.sock);
}
