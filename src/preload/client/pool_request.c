/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/pool_request.h"

#include "base/base.h"
#include "preload/client/daemon_connection.h"
#include "preload/client/provider_list.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"
#include "preload/providers.h"
#include "wire/exchange.h"

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

/* False: this program has no libibverbs, so it can have no leases. */
static bool describe(struct wv_msg_pool *message)
{
	static const struct wv_build_id none;

	wv_client_describe(&message->program, 0, 0);
	return memcmp(&message->program.verbs, &none, sizeof(none));
}

/*
 * After any error the connection is closed: a late answer would be taken for the answer to the next
 * request.
 */
static int ask_locked(struct wv_msg_pool *message, uint32_t leases)
{
	struct wv_msg_pool_state state;
	int err = connect_locked();

	if (!err)
		err = wv_ask_pool(request.sock, message, leases, &state);
	if (err) {
		wv_fd_close_private(&request.sock);
		return err;
	}
	request.asked = leases;
	request.granted = state.granted;
	request.ready = state.ready;
	return 0;
}

/* A pool is useless to a program that would not ask for leases. */
static bool is_of_use(void)
{
	enum wv_reason reason = wv_client_why_unasked(NULL);
	bool chosen;

	wv_lock();
	chosen = wv_provider_list_says(NULL, wv_provider_queues_are_chosen);
	wv_unlock();
	return !chosen && (reason == WV_REASON_NONE || reason == WV_REASON_NO_DAEMON);
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
	if (!describe(&message))
		return -ENOSYS;
	wv_lock();
	again = request.sock >= 0;
	err = ask_locked(&message, leases);
	/* The daemon may have been restarted since the last request. */
	if (again && (err == -EPIPE || err == -ECONNRESET))
		err = ask_locked(&message, leases);
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
