/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/daemon_socket.h"

#include "base/base.h"
#include "base/clock.h"
#include "base/own_fd.h"
#include "wire/exchange.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#define LONGEST_WAIT_MS 60000 /* at a time */

static bool is_disabled;
static char socket_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

/* Once: programs write over their environment, and change it while other threads run. */
static void read_settings(void)
{
	const char *disabled = secure_getenv("WARMVERBS_DISABLE");
	const char *path = secure_getenv(WV_SOCKET_ENV);

	is_disabled = disabled && *disabled && strcmp(disabled, "0") != 0;
	if (!wv_copy_string(socket_path, sizeof(socket_path),
			    path && *path ? path : WV_SOCKET_DEFAULT))
		*socket_path = '\0'; /* too long for any socket */
}

int wv_service_socket(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int sock;

	pthread_once(&once, read_settings);
	if (is_disabled)
		return -EOPNOTSUPP;
	sock = wv_fd_off_standard(wv_connect(socket_path));
	return sock == -ENOENT ? -ECONNREFUSED : sock;
}

int wv_service_say(int sock, const struct wv_service_note *note)
{
	struct wv_msg_service msg = {.note = *note};

	wv_msg_init(&msg.msg, WV_MSG_SERVICE, sizeof(msg));
	return wv_send(sock, &msg, sizeof(msg), NULL, 0, NULL, 0);
}

bool wv_service_is_lost(int err)
{
	return err == -ECONNRESET || err == -EPIPE || err == -EBADF || err == -EPROTO;
}

int wv_service_hear(int sock, struct wv_service_note *note)
{
	struct wv_msg_service msg;
	unsigned int n_fds;
	ssize_t got = wv_recv(sock, &msg, sizeof(msg), NULL, 0, &n_fds);

	if (got <= 0)
		return got == -EINTR ? -EAGAIN : got ? (int)got : -ECONNRESET;
	if (wv_msg_check(&msg, (size_t)got) != WV_MSG_SERVICE ||
	    !wv_service_note_is_sound(&msg.note))
		return -EPROTO;
	*note = msg.note;
	return 0;
}

int64_t wv_service_deadline(unsigned int ms)
{
	return (int64_t)wv_clock_ms() + ms;
}

static int await(int sock, short events, int64_t deadline)
{
	struct pollfd file = {.fd = sock, .events = events};
	int64_t left;

	while ((left = deadline - (int64_t)wv_clock_ms()) > 0) {
		int n = poll(&file, 1, left < LONGEST_WAIT_MS ? (int)left : LONGEST_WAIT_MS);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}

int wv_service_await(int sock, int64_t deadline)
{
	return await(sock, POLLIN, deadline);
}

int wv_service_say_until(int sock, const struct wv_service_note *note, int64_t deadline)
{
	int err;

	while ((err = wv_service_say(sock, note)) == -EAGAIN) {
		err = await(sock, POLLOUT, deadline);
		if (err)
			break;
	}
	return err;
}
