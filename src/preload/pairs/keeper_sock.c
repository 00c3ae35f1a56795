/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/keeper_sock.h"

#include "base/base.h"
#include "base/own_fd.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"
#include "wire/exchange.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* Guarded by the lock of the control path. */
static struct {
	int sock;
	uint64_t cookie; /* 0: there is no socket */
} self;

/* Whether the number is still our file: the program may have closed or replaced it. */
static bool is_ours(void)
{
	return self.cookie && wv_socket_cookie(self.sock) == self.cookie;
}

/* The thread wakes. */
static void leave(int fd)
{
	(void)fd;
	wv_keeper_shut();
}

static void closed(int fd)
{
	(void)fd;
	self.cookie = 0;
}

static void let_go(void)
{
	if (is_ours())
		wv_fd_close_private(&self.sock);
	else if (self.cookie)
		wv_fd_untrack(self.sock);
	self.cookie = 0;
}

static int send_note(const struct wv_pair_note *note)
{
	struct wv_msg_pair message = {.note = *note};

	wv_msg_init(&message.msg, WV_MSG_PAIR, sizeof(message));
	return is_ours() ? wv_send(self.sock, &message, sizeof(message), NULL, 0, NULL, 0)
			 : -ENOTCONN;
}

/* Makes @sock the connection; it may have ended at once. Not 0: it stays the caller's. */
static int begin(int sock)
{
	static const struct wv_fd_owner owner = {.closing = leave, .closed = closed};
	struct wv_pair_note hello = {.word = WV_PAIR_KEEPER};
	uint64_t cookie = wv_socket_cookie(sock); /* 0: the kernel gives none */

	if (!cookie || !wv_fd_hide(sock, &owner))
		return -EMFILE;
	self.sock = sock;
	self.cookie = cookie;
	if (send_note(&hello))
		let_go();
	return 0;
}

int wv_keeper_connect(void)
{
	int sock;

	wv_lock();
	let_go();
	sock = wv_fds_are_plenty() ? wv_client_connect() : -EMFILE;
	if (sock >= 0 && begin(sock))
		close(sock);
	sock = self.cookie ? self.sock : -1;
	wv_unlock();
	return sock;
}

void wv_keeper_disconnect(void)
{
	wv_lock();
	let_go();
	wv_unlock();
}

void wv_keeper_shut(void)
{
	wv_lock();
	send_note(&(struct wv_pair_note){.word = WV_PAIR_STAYS});
	if (is_ours())
		shutdown(self.sock, SHUT_RDWR);
	wv_unlock();
}

bool wv_keeper_has_lost(int err)
{
	return err == -ECONNRESET || err == -EPIPE;
}

static int receive(struct wv_msg_pair *message)
{
	unsigned int n_fds;
	ssize_t got = wv_recv(self.sock, message, sizeof(*message), NULL, 0, &n_fds);

	if (got == -EAGAIN || got == -EINTR)
		return 0;
	if (got <= 0)
		return got ? (int)got : -ECONNRESET;
	return wv_msg_check(message, (size_t)got) == WV_MSG_PAIR ? 1 : -EPROTO;
}

int wv_keeper_receive(struct wv_pair_note *note)
{
	struct wv_msg_pair message;
	int result;

	wv_lock();
	result = is_ours() ? receive(&message) : -ENOTCONN;
	wv_unlock();
	if (result > 0)
		*note = message.note;
	return result;
}

/* Returns the socket if it can be waited for, or -1. */
static int sock_if(int err)
{
	return err == -EAGAIN && is_ours() ? self.sock : -1;
}

int wv_keeper_send(const struct wv_pair_note *note, int wait_ms)
{
	struct pollfd file = {.events = POLLOUT};
	int err;

	do {
		wv_lock();
		err = send_note(note);
		file.fd = sock_if(err);
		wv_unlock();
	} while (file.fd >= 0 && wait_ms && poll(&file, 1, wait_ms) == 1);
	return err;
}

void wv_keeper_sock_forked(void)
{
	let_go();
}
