/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/reaper.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

static struct wv_pooled_lease *lease_of(struct wv_work *work)
{
	return (void *)((char *)work - offsetof(struct wv_pooled_lease, end));
}

static void end(struct wv_work *work)
{
	wv_pooled_lease_close(lease_of(work));
}

static void ended(struct wv_work *work)
{
	wv_pooled_lease_free(lease_of(work));
}

int wv_reaper_start(struct wv_reaper *r)
{
	const struct wv_line_options options = {
	    .own = WV_REAPERS,
	    .most = WV_REAPERS,
	    .priority = WV_PRIORITY_RESULTS,
	    .settled = r->closed,
	    .arg = r->arg,
	};

	return wv_line_open(r->workers, &options, &r->line);
}

void wv_reaper_stop(struct wv_reaper *r)
{
	wv_line_close(&r->line, INT64_MAX);
}

void wv_reaper_give(struct wv_reaper *r, struct wv_pooled_lease *lease)
{
	lease->end = (struct wv_work){.run = end, .done = ended};
	wv_line_give(r->line, &lease->end);
}
