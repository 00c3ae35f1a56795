/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection of this process to warmverbsd. No function waits.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "warmverbs.h"
#include "wire/pair.h"

/*
 * Why this process does not ask the daemon for leases of the device node @path; WV_REASON_NONE: it
 * may ask. Without @path, what goes for some devices only is left out; with it, call with the lock
 * held.
 */
enum wv_reason wv_client_why_unasked(const char *path);

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
 * Sends the recording of a first run, or the report on a lease; the caller sets `more`. Failures
 * are ignored. The command log of the recording follows @record in memory.
 */
void wv_client_send_record(int sock, struct wv_msg_record *record);
void wv_client_send_report(int sock, struct wv_msg_report *report, struct wv_lease *lease);
/* Sends to which peer a queue pair is connected. A command log follows @message in memory. */
void wv_client_send_connected(int sock, struct wv_msg_connected *message);

/*
 * The daemon has answered a request with @flags, enum wv_answer_flag; or it has not answered, and
 * is not asked again.
 */
void wv_client_note_answer(uint32_t flags);
void wv_client_note_silence(void);

/* Whether the permissions of the socket kept this process out when it last tried to connect. */
bool wv_client_is_shut_out(void);

/* What this process knows of the daemon. */
enum wv_daemon wv_client_daemon(void);

/* Whether the daemon answers, and its administrator lets programs have spares. */
bool wv_client_allows_spares(void);

/* Whether it also wants to know which queue pairs are connected (wire/pair.h). */
bool wv_client_allows_pairs(void);
