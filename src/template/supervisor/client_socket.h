/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket that clients connect to. */
#pragma once

#include "template/note.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

struct wv_client_socket {
	int fd; /* -1: none */
	char path[PATH_MAX];
	struct wv_note note;
	sd_event_source *refusals; /* while no child can be made */
};

/*
 * A socket at @path, to which nobody can connect yet. Takes the place of that of a supervisor that
 * was killed. Returns 0 or -errno: -EADDRINUSE if there is something else at @path.
 */
int wv_client_socket_bind(struct wv_client_socket *s, const char *path);

/* From now on, clients can connect. Returns 0 or -errno. */
int wv_client_socket_open(const struct wv_client_socket *s);

/* To be called before the next one. Returns 0 or -errno. */
int wv_client_socket_watch(struct wv_client_socket *s, sd_event *event);

/* Whether clients are told from now on that there is no child for them; at first, they are not. */
void wv_client_socket_refuse(const struct wv_client_socket *s, bool are_refused);

/*
 * Nobody can connect any more, and children that wait for clients end. @reason: why there can be no
 * template, for clients that would have one made; or NULL.
 */
void wv_client_socket_close(struct wv_client_socket *s, const char *reason);
