/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/daemon_connection.h"

#include "base/base.h"
#include "base/build_id.h"
#include "preload/client/provider_list.h"
#include "preload/core/fd_table.h"
#include "preload/core/settings.h"
#include "preload/providers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static bool answered; /* at least once */
static bool silent;   /* failed to answer at least once */
static uint32_t answer_flags;

void wv_client_note_answer(uint32_t flags)
{
	__atomic_store_n(&answer_flags, flags, __ATOMIC_RELAXED);
	__atomic_store_n(&answered, true, __ATOMIC_RELEASE);
}

void wv_client_note_silence(void)
{
	__atomic_store_n(&silent, true, __ATOMIC_RELAXED);
}

enum wv_daemon wv_client_daemon(void)
{
	if (__atomic_load_n(&silent, __ATOMIC_RELAXED))
		return WV_DAEMON_GONE;
	if (__atomic_load_n(&answered, __ATOMIC_ACQUIRE))
		return WV_DAEMON_ANSWERED;
	return wv_provider_list_known() ? WV_DAEMON_KNOWN : WV_DAEMON_UNKNOWN;
}

bool wv_client_allows_spares(void)
{
	return wv_client_daemon() == WV_DAEMON_ANSWERED &&
	       !(__atomic_load_n(&answer_flags, __ATOMIC_RELAXED) & WV_ANSWER_NO_SPARES);
}

enum wv_reason wv_client_why_unasked(void)
{
	const struct wv_settings *settings = wv_settings();

	if (__atomic_load_n(&silent, __ATOMIC_RELAXED))
		return WV_REASON_NO_DAEMON;
	if (!settings->enabled)
		return WV_REASON_DISABLED;
	if (!settings->lease)
		return WV_REASON_NOT_WANTED;
	if (!settings->providers)
		return WV_REASON_DRIVERS;
	if (!wv_provider_list_known())
		return WV_REASON_NO_DAEMON;
	return wv_provider_queues_are_chosen() ? WV_REASON_QUEUES : WV_REASON_NONE;
}

static uint64_t hash_argv(void)
{
	uint64_t hash = WV_HASH_START;

	for (char **arg = wv_argv(); arg && *arg; arg++)
		hash = wv_hash(hash, *arg, strlen(*arg) + 1);
	return hash;
}

/* Copies as much as fits before the final zero; the rest of @to is zero already. */
static void copy_start(char *to, size_t capacity, const char *from)
{
	size_t bytes = strlen(from);

	memcpy(to, from, bytes < capacity ? bytes : capacity - 1);
}

void wv_client_describe(struct wv_msg_request *request, uint32_t open_number, uint32_t flags)
{
	memset(request, 0, sizeof(*request));
	wv_msg_init(&request->msg, WV_MSG_REQUEST, sizeof(*request));
	wv_id_of_program(&request->program);
	wv_id_of_loaded("libibverbs.so", 0, &request->verbs);
	request->argv = hash_argv();
	request->open_number = open_number;
	request->flags = flags;
	copy_start(request->comm, sizeof(request->comm), program_invocation_short_name);
	copy_start(request->name, sizeof(request->name), wv_settings()->name);
}

int wv_client_connect(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	wv_auto_fd sock = -1;

	/* "" would be a name too, an abstract one. */
	if (!wv_copy_string(to.sun_path, sizeof(to.sun_path), wv_settings()->socket) ||
	    !*to.sun_path)
		return -ENAMETOOLONG;
	sock =
	    wv_fd_off_standard(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (sock < 0 || connect(sock, (struct sockaddr *)&to, sizeof(to)))
		return -errno;
	return wv_steal_fd(&sock);
}

uint64_t wv_client_cookie(int sock)
{
	uint64_t cookie = 0;
	socklen_t bytes = sizeof(cookie);

	return getsockopt(sock, SOL_SOCKET, SO_COOKIE, &cookie, &bytes) ? 0 : cookie;
}

int wv_client_ask(int node, uint32_t open_number, uint32_t flags)
{
	struct wv_msg_request request;
	wv_auto_fd sock = wv_client_connect();
	int err;

	if (sock < 0)
		return sock;
	wv_client_describe(&request, open_number, flags);
	err = wv_send(sock, &request, sizeof(request), NULL, 0, &node, 1);
	return err ? err : wv_steal_fd(&sock);
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

int wv_client_receive(int sock, int wait_ms, void *message, size_t capacity, int *fds,
		      unsigned int *n_fds)
{
	ssize_t got = wv_recv(sock, message, capacity, fds, WV_WIRE_MAX_FDS, n_fds);

	if (got == -EAGAIN) {
		if (!await_message(sock, wait_ms))
			return -ETIMEDOUT;
		got = wv_recv(sock, message, capacity, fds, WV_WIRE_MAX_FDS, n_fds);
	}
	if (got <= 0)
		return got < 0 ? (int)got : -ECONNRESET;
	return wv_msg_check(message, (size_t)got);
}

/*
 * A program may have entered a sandbox since it opened the device, and almost every sandbox allows
 * write(). A daemon that is gone raises no signal, as it does with a stream (unix(7)).
 */
static void send_news(int sock, const struct wv_msg *msg)
{
	if (write(sock, msg, msg->bytes) < 0) {
		/* The daemon does without. */
	}
}

void wv_client_send_record(int sock, struct wv_msg_record *record)
{
	const struct wv_cmdlog *cmdlog = (const struct wv_cmdlog *)(record + 1);

	wv_msg_init(&record->msg, WV_MSG_RECORD, sizeof(*record) + cmdlog->bytes);
	send_news(sock, &record->msg);
}

void wv_client_send_report(int sock, struct wv_msg_report *report, struct wv_lease *lease)
{
	uint16_t n = 0;

	wv_msg_init(&report->msg, WV_MSG_REPORT, sizeof(*report));
	report->unused = report->reached = 0;
	wv_each_step (lease->cmdlog, step) {
		n++;
		report->unused += step->state == WV_FREE;
		if (step->state == WV_TAKEN)
			report->reached = n;
	}
	send_news(sock, &report->msg);
}
