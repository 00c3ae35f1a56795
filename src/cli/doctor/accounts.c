/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/accounts.h"

#include "base/base.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>

static bool is_plain(const char *name)
{
	return *name && *name != '-' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_-.")];
}

const char *wv_own_user(char name[static WV_ACCOUNT_MAX])
{
	struct passwd *user = getpwuid(geteuid());

	if (!user || !is_plain(user->pw_name) ||
	    !wv_copy_string(name, WV_ACCOUNT_MAX, user->pw_name))
		strcpy(name, "USER");
	return name;
}

const char *wv_group_name(gid_t gid, char name[static WV_ACCOUNT_MAX])
{
	struct group *group = getgrgid(gid);

	if (!group || !is_plain(group->gr_name) ||
	    !wv_copy_string(name, WV_ACCOUNT_MAX, group->gr_name))
		snprintf(name, WV_ACCOUNT_MAX, "%u", gid);
	return name;
}

bool wv_is_listed_member(gid_t gid)
{
	struct passwd *user = getpwuid(geteuid());
	struct group *group = getgrgid(gid);

	for (char **member = group ? group->gr_mem : NULL; user && member && *member; member++)
		if (!strcmp(*member, user->pw_name))
			return true;
	return false;
}
