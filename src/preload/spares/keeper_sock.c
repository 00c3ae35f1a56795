/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/keeper_sock.h"

#include "base/base.h"
#include "base/clock.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/fd_room.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"
#include "preload/spares/locks.h"
#include "preload/spares/pair_end.h"
#include "wire/exchange.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* All pairs may be dropped at once. A daemon that lets more wait, or anything for so long, is left.
 */
#define NOTES	    (2 * WV_PAIR_ENDS + 64)
#define PATIENCE_MS 1000

/* Guarded by the lock of the control path. */
static struct {
	int sock;
	uint64_t cookie; /* 0: there is no socket */
} self;

static bool left;

/* Guarded by the lock of the stock. */
static struct wv_pair_note notes[NOTES] WV_COLD(1);
static unsigned int n_notes;
static bool overflowed;	    /* there was more to be noted */
static uint64_t waiting_ms; /* since when the daemon reads nothing; 0: it reads */

static void forget_notes(void)
{
	n_notes = 0;
	overflowed = false;
	waiting_ms = 0;
}

/* The thread wakes. */
static void leave(int fd)
{
	__atomic_store_n(&left, true, __ATOMIC_RELAXED);
	shutdown(fd, SHUT_RDWR);
}

static void closed(int fd)
{
	(void)fd;
	self.cookie = 0;
}

/* Whether the number is still our file: the program may have closed it without libc, unseen. */
static bool is_ours(void)
{
	return self.cookie && wv_client_cookie(self.sock) == self.cookie;
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

	if (!wv_fd_hide(sock, &owner))
		return -EMFILE;
	__atomic_store_n(&left, false, __ATOMIC_RELAXED);
	self.sock = sock;
	self.cookie = wv_client_cookie(sock);
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
	wv_stock_lock();
	forget_notes();
	wv_lock();
	let_go();
	wv_unlock();
	wv_stock_unlock();
}

void wv_keeper_shut(void)
{
	wv_lock();
	__atomic_store_n(&left, true, __ATOMIC_RELAXED);
	if (is_ours())
		shutdown(self.sock, SHUT_RDWR);
	wv_unlock();
}

bool wv_keeper_has_left(void)
{
	return __atomic_load_n(&left, __ATOMIC_RELAXED);
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

/* If nothing more can be noted, the daemon does not read, and is shut out when it is next told. */
void wv_keeper_say(const struct wv_pair_note *note)
{
	if (n_notes < NOTES)
		notes[n_notes++] = *note;
	else
		overflowed = true;
}

bool wv_keeper_has_notes(void)
{
	return n_notes;
}

/* Whether the daemon may read the rest later, though it cannot be sent now. */
static bool may_wait(int err)
{
	if (err != -EAGAIN || overflowed)
		return false;
	if (!waiting_ms)
		waiting_ms = wv_clock_ms();
	return wv_clock_ms() - waiting_ms < PATIENCE_MS;
}

static void keep_from(unsigned int first)
{
	n_notes -= first;
	memmove(notes, notes + first, n_notes * sizeof(notes[0]));
	if (first)
		waiting_ms = 0;
}

static void flush(void)
{
	unsigned int sent = 0;
	int err = 0;

	wv_lock();
	while (sent < n_notes && !(err = send_note(&notes[sent])))
		sent++;
	keep_from(sent);
	if ((n_notes || overflowed) && !may_wait(err)) {
		forget_notes();
		if (err != -EPIPE && err != -ECONNRESET && is_ours())
			leave(self.sock);
	}
	wv_unlock();
}

void wv_keeper_flush(void)
{
	wv_stock_lock();
	if (n_notes)
		flush();
	wv_stock_unlock();
}

void wv_keeper_sock_forked(void)
{
	forget_notes();
	let_go();
}
