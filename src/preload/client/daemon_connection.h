/*
 * Talking to warmverbsd: connecting, saying who this program is, and waiting for an answer. Nothing
 * here waits longer than its caller says.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "warmverbs.h"
#include "wire/wire.h"

/*
 * Why this process does not ask the daemon for leases; WV_REASON_NONE: nothing is in the way. From
 * any thread.
 */
enum wv_reason wv_client_why_unasked(void);

/* Connects to the daemon, without waiting. The socket, the caller's; or -errno. */
int wv_client_connect(void);

/* What the daemon is to know of this program, in a request's own form. */
void wv_client_describe(struct wv_msg_request *request, uint32_t open_number, uint32_t flags);

/*
 * Sends a request that carries @node. The socket to read the answer from, the caller's; or -errno.
 * @flags: enum wv_request_flag.
 */
int wv_client_ask(int node, uint32_t open_number, uint32_t flags);

/*
 * What the daemon answered, within @wait_ms: a message type, or -errno. @fds has room for
 * WV_WIRE_MAX_FDS; they are the caller's.
 */
int wv_client_receive(int sock, int wait_ms, void *message, size_t capacity, int *fds,
		      unsigned int *n_fds);

/* Sends what a program did at its first run, or how a lease served it. Failures are not reported.
 */
void wv_client_send_record(int sock, const struct wv_build_id *provider,
			   const struct wv_cmdlog *record);
void wv_client_send_report(int sock, struct wv_msg_report *report, struct wv_lease *lease);

/* The daemon has answered a request; or it did not, and is not asked again. */
void wv_client_note_answer(void);
void wv_client_note_silence(void);

/* What this process knows of the daemon. */
enum wv_daemon wv_client_daemon(void);
