/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets that killed processes leave behind. */
#pragma once

#include <sys/un.h>

/*
 * Removes the SOCK_SEQPACKET socket at @at if nobody listens there any more, and nothing else.
 * Without waiting. Returns 0 if there is none now, or -errno: -EADDRINUSE if somebody listens,
 * -EEXIST if there is something that is no socket.
 */
int wv_stale_socket_clear(const struct sockaddr_un *at);
