/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/config/privileges.h"

#include "base/base.h"

#include <errno.h>
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

/* Keeps CAP_IPC_LOCK only if the process has it. */
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
	return cap_set_proc(wanted) ? -errno : 0;
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
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}
