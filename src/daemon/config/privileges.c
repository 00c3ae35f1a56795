/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/config/privileges.h"

#include "base/base.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const cap_value_t kept[] = {CAP_IPC_LOCK};

static void free_caps(cap_t *caps)
{
	if (*caps)
		cap_free(*caps);
}

/* The bounding set limits the programs that this process would start, too. */
static void drop_bounding(void)
{
	for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
		if (cap != CAP_IPC_LOCK && cap_get_bound(cap) > 0)
			cap_drop_bound(cap); /* refused without CAP_SETPCAP, and then not needed */
}

static bool differ(cap_t now, cap_t wanted)
{
	int sets = cap_compare(now, wanted);

	return sets < 0 || CAP_DIFFERS(sets, CAP_PERMITTED) || CAP_DIFFERS(sets, CAP_EFFECTIVE);
}

/*
 * Keeps CAP_IPC_LOCK only if the process has it. Does not call capset() without need: the unit's
 * system call filter denies that.
 */
static int keep_only(void)
{
	wv_cleanup(free_caps) cap_t now = cap_get_proc();
	wv_cleanup(free_caps) cap_t wanted = cap_init();
	cap_flag_value_t permitted = CAP_CLEAR;

	if (!now || !wanted)
		return -errno;
	cap_get_flag(now, CAP_IPC_LOCK, CAP_PERMITTED, &permitted);
	if (permitted == CAP_SET &&
	    (cap_set_flag(wanted, CAP_PERMITTED, WV_ARRAY_SIZE(kept), kept, CAP_SET) ||
	     cap_set_flag(wanted, CAP_EFFECTIVE, WV_ARRAY_SIZE(kept), kept, CAP_SET)))
		return -errno;
	return differ(now, wanted) && cap_set_proc(wanted) ? -errno : 0;
}

int wv_privileges_drop(void)
{
	int err;

	drop_bounding();
	cap_reset_ambient();
	err = keep_only();
	if (err)
		return err;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

void wv_raise_descriptor_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max < WV_MOST_FDS ? files.rlim_max : WV_MOST_FDS;
	setrlimit(RLIMIT_NOFILE, &files);
}
