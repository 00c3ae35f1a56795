/*
 * The program's side of the conversation with warmverbsd. Nothing here waits longer than WV_WAIT_MS
 * in all; a daemon that is absent, old or hung is not asked again by this process.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "warmverbs.h"
#include "wire/wire.h"

#include <stdbool.h>

struct wv_context;

/*
 * Opens the node at @path and asks for a lease of it, if that makes sense and nothing is pending;
 * the answer is collected by wv_client_open(). Cheap when there is no daemon.
 */
void wv_client_request(const char *path);

/*
 * Opens the device node @path for the program, from a lease if there is one. Returns the descriptor
 * or -errno of the open itself.
 */
int wv_client_open(const char *path);

/* What this thread opens ahead is for a process whose how-manieth open it will be. */
void wv_client_open_as(uint32_t number);

/* Drops a request whose answer nobody collected. */
void wv_client_drop_request(void);

/* Connects to the daemon, without waiting. The socket, or -errno. */
int wv_client_connect(void);

/* What the daemon is to know of this program, in a request's own form. */
void wv_client_describe(struct wv_msg_request *request, uint32_t open_number, uint32_t flags);

/*
 * What the daemon answered, within WV_WAIT_MS: a message type, or -errno. @fds has room for
 * WV_WIRE_MAX_FDS; they are the caller's.
 */
int wv_client_receive(int sock, void *message, size_t capacity, int *fds, unsigned int *n_fds);

/* What this process knows of the daemon. */
enum wv_daemon wv_client_daemon(void);

/* In a forked child: the request is the parent's. Call with the lock held. */
void wv_client_forget_request(void);

/* The program closed @fd, which may be one of ours. Call with the lock held. */
void wv_client_forget_fd(int fd);

/*
 * Tells the daemon that programs like this one get no lease any more: it uses rights that a lease
 * does not give. Call with the lock held.
 */
void wv_client_retract(const struct wv_context *context);

void wv_client_send_record(int sock, const struct wv_build_id *provider,
			   const struct wv_cmdlog *record);
void wv_client_send_report(int sock, struct wv_msg_report *report, struct wv_lease *lease);
