/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/report_json.h"

#include "base/base.h"
#include "cli/no_lease.h"
#include "cli/trace_events.h"

static json_t *event_json(const struct wv_run *run, const struct wv_trace *event)
{
	uint64_t since = wv_run_start(run, event);
	char what[WV_EVENT_TEXT], why[WV_EVENT_TEXT];

	return json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:i}", "pid", (json_int_t)event->pid,
			 "tid", (json_int_t)event->tid, "at_ns", (json_int_t)(event->start - since),
			 "took_ns", (json_int_t)(event->end - event->start), "what",
			 wv_event_what(event, what), "by", wv_event_by(event), "why",
			 wv_event_why(event, why), "errno", event->error);
}

static json_t *events_json(const struct wv_run *run)
{
	json_t *events = json_array();

	for (size_t i = 0; i < run->n; i++)
		json_array_append_new(events, event_json(run, &run->records[i]));
	return events;
}

static json_t *without_lease_json(const struct wv_summary *s)
{
	json_t *reasons = json_array();

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(s->without_lease); i++)
		if (s->without_lease[i])
			json_array_append_new(reasons, json_pack("{s:s, s:i}", "reason",
								 wv_no_lease(i)->name, "opens",
								 s->without_lease[i]));
	return reasons;
}

/* null if the state was never reached. */
static json_t *time_json(uint64_t ns)
{
	return ns ? json_integer((json_int_t)ns) : json_null();
}

json_t *wv_report_json(const struct wv_run *run)
{
	struct wv_summary s;

	wv_summarise(run, &s);
	return json_pack("{s:o, s:{s:b, s:i, s:i, s:i, s:o, s:i, s:i, s:i, s:i, s:i, s:i, "
			 "s:i, s:i, s:i, s:o, s:o}}",
			 "events", events_json(run), "summary", "lease_wanted", run->lease_wanted,
			 "opens", s.opens, "leased", s.leased, "ready", s.ready, "without_lease",
			 without_lease_json(&s), "adopted", s.adopted, "kernel", s.kernel,
			 "diverged", s.diverged, "recorded", s.recorded, "spares", s.spares,
			 "creating", s.creating, "ahead", s.ahead, "repairs", s.repairs, "copied",
			 s.copied, "to_init_ns", time_json(s.to_init), "to_rts_ns",
			 time_json(s.to_rts));
}
