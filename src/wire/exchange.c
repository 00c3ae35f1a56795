/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/exchange.h"

#include "base/base.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static bool reaches(int sock, const struct sockaddr_un *to)
{
	return !connect(sock, (const struct sockaddr *)to, sizeof(*to));
}

int wv_connect(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX}, own;
	wv_auto_fd sock = -1;

	/* "" would be a name too, an abstract one. */
	if (!wv_copy_string(to.sun_path, sizeof(to.sun_path), path) || !*to.sun_path)
		return -ENAMETOOLONG;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return -errno;
	if (wv_user_socket(&own, path, geteuid()) || !reaches(sock, &own))
		if (!reaches(sock, &to))
			return -errno;
	return wv_steal_fd(&sock);
}

/* Signals neither end the wait nor prolong it: they are blocked meanwhile. */
static bool await_message(int sock, int wait_ms)
{
	struct pollfd wait = {.fd = sock, .events = POLLIN};
	struct timespec limit = {.tv_nsec = wait_ms * 1000000L};
	sigset_t all;

	sigfillset(&all);
	return ppoll(&wait, 1, &limit, &all) > 0;
}

int wv_receive(int sock, int wait_ms, void *message, size_t capacity, struct wv_fds *fds)
{
	ssize_t got = wv_recv(sock, message, capacity, fds->all, WV_FDS_MOST, &fds->n);

	if (got == -EAGAIN) {
		if (!await_message(sock, wait_ms))
			return -ETIMEDOUT;
		got = wv_recv(sock, message, capacity, fds->all, WV_FDS_MOST, &fds->n);
	}
	if (got <= 0)
		return got < 0 ? (int)got : -ECONNRESET;
	return wv_msg_check(message, (size_t)got);
}

/* Copies as much as fits before the final zero; the rest of @to is zero already. */
static void copy_start(char *to, size_t capacity, const char *from)
{
	size_t bytes = strlen(from);

	memcpy(to, from, bytes < capacity ? bytes : capacity - 1);
}

void wv_describe(struct wv_msg_request *request, const struct wv_build_id *program, uint64_t argv,
		 const char *comm, const char *name)
{
	memset(request, 0, sizeof(*request));
	request->program = *program;
	request->argv = argv;
	copy_start(request->comm, sizeof(request->comm), comm);
	copy_start(request->name, sizeof(request->name), name);
}

static int receive_state(int sock, struct wv_msg_pool_state *state)
{
	wv_auto_fds fds = {.n = 0};
	int type = wv_receive(sock, WV_WAIT_MS, state, sizeof(*state), &fds);

	if (type == WV_MSG_POOL_STATE)
		return 0;
	return type < 0 ? type : -EPROTO;
}

int wv_ask_pool(int sock, struct wv_msg_pool *request, uint32_t leases,
		struct wv_msg_pool_state *state)
{
	int err;

	wv_msg_init(&request->program.msg, WV_MSG_POOL, sizeof(*request));
	request->leases = leases;
	request->reserved = 0;
	err = wv_send(sock, request, sizeof(*request), NULL, 0, NULL, 0);
	return err ? err : receive_state(sock, state);
}
