/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's side of the protocol, as far as it needs to know nothing of the process that it is in.
 * No function waits longer than its caller says. All may be called from any thread.
 */
#pragma once

#include "wire/wire.h"

/*
 * Connects to the daemon at @path, without waiting: by the user's own socket if there is one that
 * answers, else by the common one. Returns the socket, which is close-on-exec,
 * non-blocking and the caller's; -ENAMETOOLONG if @path is empty or too long; or -errno.
 */
int wv_connect(const char *path);

/*
 * Waits up to @wait_ms (below 1000) for the daemon's answer. Returns its message type, or -errno.
 * Descriptors that came with it are in *@fds, which was empty, also after an error.
 */
int wv_receive(int sock, int wait_ms, void *message, size_t capacity, struct wv_fds *fds);

/*
 * Describes a program: its build, the hash of its argument vector, its name for people @comm, and
 * the name of this use of it, or "". All else of @request, and its header, is 0.
 */
void wv_describe(struct wv_msg_request *request, const struct wv_build_id *program, uint64_t argv,
		 const char *comm, const char *name);

/*
 * Requests a pool of @leases for the program that @request describes, and waits up to WV_WAIT_MS
 * for the answer. 0, and *@state is the answer; or -errno: an answer may still come, so @sock is of
 * no more use.
 */
int wv_ask_pool(int sock, struct wv_msg_pool *request, uint32_t leases,
		struct wv_msg_pool_state *state);
