/* SPDX-License-Identifier: BSD-2-Clause */
/* A message of a SOCK_SEQPACKET socket and the descriptors that travel with it, as one unit. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define WV_MESSAGE_FDS 253 /* SCM_MAX_FD: what a message can carry at all (unix(7)) */

/*
 * Sends one message of two parts (@tail may be NULL) with @n_fds borrowed descriptors, without
 * waiting. 0 or -errno (-EAGAIN: the peer does not read).
 */
int wv_send(int sock, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes,
	    const int *fds, unsigned int n_fds);

/*
 * Receives one message without waiting, with all descriptors that it carries, whatever else is
 * wrong with it: they are close-on-exec, and the caller's, after an error, too. @sender, unless it
 * is NULL, is the process that has sent it; 0 if that is not known, or @sock is not told (unix(7),
 * SO_PASSCRED). Returns the message's size (0: the peer closed) or -errno; -EPROTO if the message
 * did not fit, or it has no bytes.
 */
ssize_t wv_recv_any(int sock, void *data, size_t capacity, int fds[static WV_MESSAGE_FDS],
		    unsigned int *n_fds, pid_t *sender);
