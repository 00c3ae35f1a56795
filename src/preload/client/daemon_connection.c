/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/daemon_connection.h"

#include "base/base.h"
#include "base/build_id.h"
#include "base/own_fd.h"
#include "preload/client/provider_list.h"
#include "preload/core/fd_table.h"
#include "preload/core/settings.h"
#include "preload/providers.h"
#include "wire/exchange.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static bool answered; /* at least once */
static bool silent;   /* failed to answer at least once */
static bool closed;   /* its socket is not for this process */
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

bool wv_client_allows_pairs(void)
{
	return wv_client_allows_spares() &&
	       __atomic_load_n(&answer_flags, __ATOMIC_RELAXED) & WV_ANSWER_PAIRS;
}

bool wv_client_is_shut_out(void)
{
	return __atomic_load_n(&closed, __ATOMIC_RELAXED);
}

enum wv_reason wv_client_why_unasked(const char *path)
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
	return path && wv_provider_list_says(path, wv_provider_queues_are_chosen) ? WV_REASON_QUEUES
										  : WV_REASON_NONE;
}

void wv_client_describe(struct wv_msg_request *request, uint32_t open_number, uint32_t flags)
{
	struct wv_build_id program;

	wv_id_of_program(&program);
	wv_describe(request, &program, wv_hash_argv(WV_HASH_START, wv_argv()),
		    program_invocation_short_name, wv_settings()->name);
	wv_msg_init(&request->msg, WV_MSG_REQUEST, sizeof(*request));
	wv_id_of_loaded("libibverbs.so", 0, &request->verbs);
	request->open_number = open_number;
	request->flags = flags;
}

int wv_client_connect(void)
{
	int sock = wv_fd_off_standard(wv_connect(wv_settings()->socket));

	if (sock < 0)
		__atomic_store_n(&closed, sock == -EACCES, __ATOMIC_RELAXED);
	return sock;
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
		if (n++ == lease->n_recipe)
			break;
		report->unused += step->state == WV_FREE;
		if (step->state == WV_TAKEN)
			report->reached = n;
	}
	send_news(sock, &report->msg);
}

void wv_client_send_connected(int sock, struct wv_msg_connected *message)
{
	const struct wv_cmdlog *cmdlog = (const struct wv_cmdlog *)(message + 1);

	wv_msg_init(&message->msg, WV_MSG_CONNECTED, sizeof(*message) + cmdlog->bytes);
	send_news(sock, &message->msg);
}
