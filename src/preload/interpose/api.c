/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions: thin wrappers. */
#include "base/base.h"
#include "preload/client/daemon_connection.h"
#include "preload/client/lease_request.h"
#include "preload/client/pool_request.h"
#include "preload/core/counters.h"
#include "preload/core/settings.h"
#include "preload/interpose/prepare.h"
#include "preload/lease/open_outcome.h"
#include "preload/prefork/child.h"
#include "preload/prefork/zygote.h"
#include "warmverbs.h"

#include <errno.h>
#include <string.h>

WV_PUBLIC const char *wv_version(void)
{
	return WV_VERSION;
}

/* Copies as much as fits: a caller built for another version may have less room, or more. */
static int hand_out(void *to, size_t size, const void *from, size_t bytes)
{
	if (!to || !size)
		return EINVAL;
	memset(to, 0, size);
	memcpy(to, from, size < bytes ? size : bytes);
	return 0;
}

WV_PUBLIC int wv_query_status(struct wv_status *status, size_t size)
{
	int saved = errno;
	struct wv_status now = {0};

	wv_prepare();
	now.enabled = wv_settings()->enabled;
	now.daemon = wv_client_daemon();
	now.reason = now.enabled ? wv_open_outcome_reason() : WV_REASON_DISABLED;
	now.sets_ready = wv_zygote_ready();
	wv_client_pool_state(&now);
	errno = saved;
	return hand_out(status, size, &now, sizeof(now));
}

static const char *const reasons[] = {
    [WV_REASON_NONE] = "the device was opened from a lease",
    [WV_REASON_NOT_OPENED] = "no device was opened yet",
    [WV_REASON_DISABLED] = "WARMVERBS_DISABLE is set",
    [WV_REASON_NOT_WANTED] = "WARMVERBS_LEASE is 0",
    [WV_REASON_DRIVERS] = "IBV_DRIVERS or RDMAV_DRIVERS is set",
    [WV_REASON_QUEUES] = "the environment chooses the memory of queues",
    [WV_REASON_NO_DAEMON] = "there is no warmverbsd, or it did not answer in time",
    [WV_REASON_PROVIDER] = "the device's provider is not known",
    [WV_REASON_RECORDED] = "warmverbsd did not know the program, so this run is recorded",
    [WV_REASON_EMPTY] = "warmverbsd knows the program, but had no lease ready",
    [WV_REASON_DENIED] = "warmverbsd does not know the device",
    [WV_REASON_UNFIT] = "this program or this device gets no leases",
};

WV_PUBLIC const char *wv_reason_str(enum wv_reason reason)
{
	return (unsigned int)reason < WV_ARRAY_SIZE(reasons) ? reasons[reason] : "unknown";
}

WV_PUBLIC int wv_query_statistics(struct wv_statistics *statistics, size_t size)
{
	uint64_t *counters = (uint64_t *)&wv_counters;
	uint64_t now[sizeof(wv_counters) / sizeof(*counters)];

	for (size_t i = 0; i < WV_ARRAY_SIZE(now); i++)
		now[i] = __atomic_load_n(&counters[i], __ATOMIC_RELAXED);
	return hand_out(statistics, size, now, sizeof(now));
}

WV_PUBLIC int wv_request_pool(unsigned int leases)
{
	int saved = errno;
	int err;

	wv_prepare();
	err = wv_client_request_pool(leases);
	errno = saved;
	return -err;
}

/* Learns from a rehearsal what children will do. Returns 0 or an errno value. */
static int learn(int (*rehearse)(void *arg), void *arg)
{
	struct wv_prefork_shm *shm = wv_zygote_shm();
	int error;

	if (!shm)
		return ENOMEM;
	wv_child_rehearse(shm);
	error = rehearse(arg);
	wv_child_end_rehearsal();
	if (error)
		return error;
	return wv_scripts_know(shm, NULL) ? 0 : ENODATA;
}

WV_PUBLIC int wv_prefork(unsigned int sets, int (*rehearse)(void *arg), void *arg)
{
	int saved = errno;
	int error = 0;

	if (!wv_settings()->enabled)
		return EOPNOTSUPP;
	if (sets > WV_SET_POOL_SETS)
		return EINVAL;
	wv_prepare();
	/*
	 * Verbs are not bound here: that may load libibverbs, and the child of a thread that forks
	 * meanwhile would have half of it. @rehearse may do it, since no other thread forks while
	 * it runs, and so may the zygote's thread, for which forks wait.
	 */
	if (rehearse && sets)
		error = learn(rehearse, arg);
	if (!error)
		error = -wv_zygote_keep(sets);
	errno = saved;
	return error;
}

WV_PUBLIC void wv_release(void)
{
	int saved = errno;

	wv_prepare();
	wv_client_end_pool();
	wv_zygote_release();
	wv_lease_request_drop();
	errno = saved;
}
