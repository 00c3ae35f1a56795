/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subordinate users (subuid(5)): the user ids that /etc/subuid lends to a user, for containers. Who
 * uses them is that user, so they have no shares of their own.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define WV_SUBUID_FILE "/etc/subuid"

struct wv_subordinate_range {
	uid_t owner, first;
	uid_t count;
};

struct wv_subordinates {
	struct wv_subordinate_range *ranges;
	size_t n;
};

/*
 * Reads @path, in the form of subuid(5); a line that is wrong, or whose user is not known, is left
 * out. A file that does not exist is an empty one. 0; or -errno, and then there are no ranges.
 */
int wv_subordinates_read(struct wv_subordinates *s, const char *path);

void wv_subordinates_free(struct wv_subordinates *s);

/* The user to whom @uid is lent, or @uid itself. */
uid_t wv_subordinate_owner(const struct wv_subordinates *s, uid_t uid);
