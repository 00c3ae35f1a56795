/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket that clients connect to. */
#pragma once

#include "template/note.h"

struct wv_client_socket {
	int fd; /* -1: none */
	char path[PATH_MAX];
	struct wv_note note;
};

/*
 * A socket at @path, to which nobody can connect yet. Takes the place of that of a supervisor that
 * was killed. Returns 0 or -errno: -EADDRINUSE if there is something else at @path.
 */
int wv_client_socket_bind(struct wv_client_socket *s, const char *path);

/* From now on, clients can connect. Returns 0 or -errno. */
int wv_client_socket_open(const struct wv_client_socket *s);

/* Tells the client that waits that there is no child for it. */
void wv_client_socket_refuse(const struct wv_client_socket *s, const char *why);

/*
 * Nobody can connect any more, and children that wait for clients end. @reason: why there can be no
 * template, for clients that would have one made; or NULL.
 */
void wv_client_socket_close(struct wv_client_socket *s, const char *reason);
