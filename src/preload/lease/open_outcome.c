/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/open_outcome.h"

#include "base/base.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/context.h"
#include "preload/core/counters.h"

static enum wv_reason last = WV_REASON_NOT_OPENED;

static enum wv_reason reason_of_answer(uint32_t no_lease)
{
	static const enum wv_reason reasons[] = {
	    [WV_NO_LEASE_RECORD] = WV_REASON_RECORDED,	[WV_NO_LEASE_EMPTY] = WV_REASON_EMPTY,
	    [WV_NO_LEASE_DENIED] = WV_REASON_DENIED,	[WV_NO_LEASE_UNFIT] = WV_REASON_UNFIT,
	    [WV_NO_LEASE_LATER] = WV_REASON_UNFIT,	[WV_NO_LEASE_PROVIDER] = WV_REASON_PROVIDER,
	    [WV_NO_LEASE_SILENT] = WV_REASON_NO_DAEMON, [WV_NO_LEASE_CLOSED] = WV_REASON_NO_DAEMON,
	};

	return no_lease < WV_ARRAY_SIZE(reasons) ? reasons[no_lease] : WV_REASON_UNFIT;
}

static void remember(enum wv_reason reason)
{
	__atomic_store_n(&last, reason, __ATOMIC_RELAXED);
}

void wv_open_outcome_note(int fd, const char *path)
{
	static uint64_t *const by_mode[] = {
	    [WV_PLAIN] = &wv_counters.plain,
	    [WV_RECORDING] = &wv_counters.recorded,
	    [WV_LEASED] = &wv_counters.leased,
	};
	const struct wv_context *c = wv_context_of(fd);
	enum wv_mode mode = c ? c->mode : WV_PLAIN;
	enum wv_reason unasked = mode == WV_LEASED ? WV_REASON_NONE : wv_client_why_unasked(path);

	wv_count(&wv_counters.opens);
	wv_count(by_mode[mode]);
	if (mode == WV_LEASED)
		remember(WV_REASON_NONE);
	else
		remember(unasked ? unasked : reason_of_answer(c ? c->no_lease : WV_NO_LEASE_UNFIT));
}

void wv_open_outcome_note_preforked(void)
{
	wv_count(&wv_counters.opens);
	wv_count(&wv_counters.ready);
	remember(WV_REASON_NONE);
}

enum wv_reason wv_open_outcome_reason(void)
{
	return __atomic_load_n(&last, __ATOMIC_RELAXED);
}

void wv_open_outcome_forked(void)
{
	wv_counters = (struct wv_statistics){0};
	last = WV_REASON_NOT_OPENED;
}
