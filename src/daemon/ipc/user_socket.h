/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets that one user each can connect to, beside the one that all share: who fills the queue of
 * the common socket keeps nobody else waiting whose programs have a socket of their own.
 *
 * They are in a folder beside the common socket (wire.h), which only those can enter who may
 * connect to that one. An access control list admits the user, since the daemon may not give files
 * away.
 */
#pragma once

#include <sys/types.h>
#include <sys/un.h>

/*
 * A socket at @at to which only its owner, this process's user, can connect. The caller's; or
 * -errno.
 */
int wv_bind_closed(const struct sockaddr_un *at);

/*
 * Makes the folder beside @socket, which is there, or empties it of what a killed daemon left. 0 or
 * -errno.
 */
int wv_user_sockets_prepare(const char *socket);

/* Makes the socket of @uid. The listening descriptor, which is the caller's; or -errno. */
int wv_user_socket_listen(const char *socket, uid_t uid);

/* Removes the socket of @uid. */
void wv_user_socket_remove(const char *socket, uid_t uid);

/* Removes the folder, and what is left in it. */
void wv_user_sockets_remove(const char *socket);

/*
 * The administrator's socket, for root and this process's user, outside the folder of @socket. The
 * listening descriptor, which is the caller's; or -errno: -EPERM if its folder is somebody else's.
 */
int wv_admin_socket_listen(const char *socket);
void wv_admin_socket_remove(const char *socket);
