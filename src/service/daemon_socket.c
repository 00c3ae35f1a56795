/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/daemon_socket.h"

#include "base/base.h"
#include "wire/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

/* A program that closes 0 to 2 before it opens files of its own expects to get these numbers. */
static int off_standard(int fd)
{
	int other;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (other < 0)
		other = -errno;
	close(fd);
	return other;
}

int wv_service_socket(void)
{
	const char *disabled = secure_getenv("WARMVERBS_DISABLE");
	const char *path = secure_getenv(WV_SOCKET_ENV);

	if (disabled && *disabled && strcmp(disabled, "0") != 0)
		return -EOPNOTSUPP;
	return off_standard(wv_connect(path ? path : WV_SOCKET_DEFAULT));
}

uint64_t wv_service_cookie(int sock)
{
	uint64_t cookie = 0;
	socklen_t bytes = sizeof(cookie);

	return getsockopt(sock, SOL_SOCKET, SO_COOKIE, &cookie, &bytes) ? 0 : cookie;
}

int wv_service_say(int sock, const struct wv_service_note *note)
{
	struct wv_msg_service msg = {.note = *note};

	wv_msg_init(&msg.msg, WV_MSG_SERVICE, sizeof(msg));
	return wv_send(sock, &msg, sizeof(msg), NULL, 0, NULL, 0);
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

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

int64_t wv_service_deadline(unsigned int ms)
{
	return now_ms() + ms;
}

int wv_service_await(int sock, int64_t deadline)
{
	struct pollfd file = {.fd = sock, .events = POLLIN};
	int64_t left;

	while ((left = deadline - now_ms()) > 0) {
		int n = poll(&file, 1, left < 60000 ? (int)left : 60000);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}
