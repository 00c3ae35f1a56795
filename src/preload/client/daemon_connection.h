/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to warmverbsd: connects, describes this program, and waits for an answer. No
 * function waits longer than its caller says.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "warmverbs.h"
#include "wire/wire.h"

/*
 * Why this process does not ask the daemon for leases; WV_REASON_NONE: it may ask. Can be called
 * from any thread.
 */
enum wv_reason wv_client_why_unasked(void);

/* Connects to the daemon, without waiting. Returns the socket, which is the caller's, or -errno. */
int wv_client_connect(void);

/* Describes this program to the daemon, in the form of a lease request. */
void wv_client_describe(struct wv_msg_request *request, uint32_t open_number, uint32_t flags);

/*
 * Sends a lease request with the descriptor @node. Returns the socket to read the answer from,
 * which is the caller's, or -errno. @flags: enum wv_request_flag.
 */
int wv_client_ask(int node, uint32_t open_number, uint32_t flags);

/*
 * What tells the connection @sock from all other sockets; 0 if @sock is no socket. Its number is
 * another file if the program has closed it without libc, unseen.
 */
uint64_t wv_client_cookie(int sock);

/*
 * Waits up to @wait_ms for the daemon's answer. Returns its message type, or -errno. @fds has room
 * for WV_WIRE_MAX_FDS; the descriptors are the caller's.
 */
int wv_client_receive(int sock, int wait_ms, void *message, size_t capacity, int *fds,
		      unsigned int *n_fds);

/*
 * Sends the recording of a first run, or the report on a lease; the caller sets `more`. Failures
 * are ignored. The command log of the recording follows @record in memory.
 */
void wv_client_send_record(int sock, struct wv_msg_record *record);
void wv_client_send_report(int sock, struct wv_msg_report *report, struct wv_lease *lease);

/*
 * The daemon has answered a request with @flags, enum wv_answer_flag; or it has not answered, and
 * is not asked again.
 */
void wv_client_note_answer(uint32_t flags);
void wv_client_note_silence(void);

/* What this process knows of the daemon. */
enum wv_daemon wv_client_daemon(void);

/* Whether the daemon answers, and its administrator lets programs have spares. */
bool wv_client_allows_spares(void);
