/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The listening socket: systemd's, or the daemon's own.
 */
#pragma once

#include "daemon/config/config.h"

#include <stdbool.h>
#include <sys/un.h>

struct wv_listener {
	char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];  /* path */
	char run_dir[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* directory of the socket */
	bool activated; /* the socket belongs to systemd */
	int admin_fd;	/* of the administrator's socket, until another takes it; or -1 */
	bool for_users; /* there is a folder for sockets of users (user_socket.h) */
};

/*
 * Finds out where the socket is to be, systemd's or the one of config.socket, and fills in @l. 0;
 * or -errno after the failure was logged, for example because another daemon answers there.
 */
int wv_listener_init(struct wv_listener *l, const struct wv_config *config);

/*
 * Makes the socket, unless systemd passed it, the folder for sockets of users, and the
 * administrator's socket. The listening descriptor, which is the caller's; or -errno after the
 * failure was logged.
 */
int wv_listen(struct wv_listener *l, const struct wv_config *config);

/* Removes what wv_listen() made. */
void wv_unlisten(const struct wv_listener *l);
