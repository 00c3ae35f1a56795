/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of users and groups. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define WV_ACCOUNT_MAX 64

/*
 * The name of this process's user, for a command; "USER" if it has none that a shell takes as it
 * is.
 */
const char *wv_own_user(char name[static WV_ACCOUNT_MAX]);

/* The name of the group, or its number. */
const char *wv_group_name(gid_t gid, char name[static WV_ACCOUNT_MAX]);

/*
 * Whether the group database has this user in the group. The process may have begun before, and
 * not be a member.
 */
bool wv_is_listed_member(gid_t gid);
