/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of users, by which nodes know each other's users. A directory service may take its time,
 * so a thread asks for them.
 */
#pragma once

#include "daemon/loop/workers.h"
#include "wire/pair.h"

#define WV_USER_NAMES 512 /* that are known at a time; others are looked up again */

struct wv_user_entry {
	bool asking;
	uid_t uid;
	int64_t known_us;	 /* when the name was found; 0: not yet */
	char name[WV_PAIR_USER]; /* "": the user has none that fits */
};

struct wv_user_names {
	struct wv_line *line;
	struct wv_user_entry all[WV_USER_NAMES]; /* a ring */
	unsigned int n;
};

/* Looks names up in a thread of @workers from now on. 0 or -errno. */
int wv_user_names_start(struct wv_user_names *names, struct wv_workers *workers);

/* Harmless if it was not started. */
void wv_user_names_stop(struct wv_user_names *names);

/*
 * The name of @uid, which stays valid until the caller returns to the loop; "" if it has none that
 * fits. NULL: it is not known yet, and is looked up.
 */
const char *wv_user_name(struct wv_user_names *names, uid_t uid);
