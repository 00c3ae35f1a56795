/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Doors: the sockets that clients connect to. One is common, and one is the administrator's. Each
 * user who has recipes gets another (user_socket.h), so that nobody's connections wait for those of
 * other users. The doors take turns.
 */
#pragma once

#include "base/log.h"
#include "store/catalog.h"

#include <sys/queue.h>
#include <systemd/sd-event.h>

struct wv_door {
	LIST_ENTRY(wv_door) link;
	struct wv_doors *all;
	const struct wv_tenant *tenant; /* of the user whose own it is; or NULL */
	sd_event_source *source;
	int fd;
};

struct wv_doors {
	/* Set by the owner before wv_doors_start(). */
	sd_event *event;
	const char *socket;   /* path of the common socket */
	bool own;	      /* users can have doors of their own */
	unsigned int max_own; /* how many at most */
	void (*knock)(void *arg, int listen_fd, bool administrator);
	void *arg;

	LIST_HEAD(, wv_door) list;
	struct wv_door common, administrator;
	const struct wv_door *answered; /* while it knocks: NULL when it was closed meanwhile */
	unsigned int n_own;
	struct wv_log_limit failure_limit;
	/*
	 * On after a knock, until the messages that were there before it are served, or for some
	 * time: where neither connections nor messages ever pause, they take turns.
	 */
	sd_event_source *served_source;
	int64_t knock_us; /* the loop's time at the end of the last knock */
};

/*
 * Opens the common door, and that of the administrator if @admin_fd is not -1. The descriptors stay
 * the caller's. 0 or -errno.
 */
int wv_doors_start(struct wv_doors *d, int listen_fd, int admin_fd);

/*
 * Closes all doors. What is left of those of users goes with them. Harmless if it was not started.
 */
void wv_doors_stop(struct wv_doors *d);

/* Opens a door for @user, who is to have one if there can be one. Harmless if there is one. */
void wv_doors_add(struct wv_doors *d, struct wv_user *user);

/* Closes the door of @user. Harmless if there is none. */
void wv_doors_remove(struct wv_doors *d, struct wv_user *user);

/* Whether anybody is let in: if not, those who connect wait. */
void wv_doors_let_in(struct wv_doors *d, bool on);
