/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/report.h"

#include "base/base.h"
#include "cli/table.h"
#include "cli/trace_events.h"
#include "cli/units.h"

static int print_events(const struct wv_run *run, FILE *out)
{
	struct wv_table table;

	wv_table_begin(&table);
	wv_table_add_column(&table, "at ms", true);
	wv_table_add_column(&table, "took us", true);
	wv_table_add_column(&table, "process", true);
	wv_table_add_column(&table, "what", false);
	wv_table_add_column(&table, "by", false);
	wv_table_add_column(&table, "why", false);
	for (size_t i = 0; i < run->n; i++) {
		const struct wv_trace *event = &run->records[i];
		uint64_t since = wv_run_start(run, event);
		char what[WV_EVENT_TEXT], why[WV_EVENT_TEXT];

		wv_table_add_cell(&table, "%.3f", (double)(event->start - since) / 1e6);
		wv_table_add_cell(&table, "%.1f", (double)(event->end - event->start) / 1e3);
		wv_table_add_cell(&table, "%u", event->pid);
		wv_table_add_cell(&table, "%s", wv_event_what(event, what));
		wv_table_add_cell(&table, "%s", wv_event_by(event));
		wv_table_add_cell(&table, "%s", wv_event_why(event, why));
	}
	return wv_table_end(&table, out);
}

static void print_times(const struct wv_summary *s, FILE *out)
{
	char text[WV_QUANTITY_MAX];

	if (s->to_init)
		fprintf(out, "first QP in INIT after %s", wv_format_ns(s->to_init, text));
	if (s->to_rts)
		fprintf(out, "%s %s", s->to_init ? ", in RTS after" : "first QP in RTS after",
			wv_format_ns(s->to_rts, text));
	if (s->to_init || s->to_rts)
		fputc('\n', out);
}

static void print_opens(const struct wv_run *run, const struct wv_summary *s, FILE *out)
{
	if (s->leased)
		fprintf(out, "lease: %u of %u opens of a device\n", s->leased, s->opens);
	if (s->ready)
		fprintf(out, "prefork: %u of %u opens, made by a parent before the fork\n",
			s->ready, s->opens);
	if (!run->lease_wanted) {
		fputs("no lease: none was requested (--no-lease or WARMVERBS_LEASE=0)\n", out);
		return;
	}
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(s->without_lease); i++)
		if (s->without_lease[i])
			fprintf(out, "no lease: %u of %u opens: %s\n  %s\n", s->without_lease[i],
				s->opens, wv_no_lease(i)->cause, wv_no_lease(i)->remedy);
}

static int print_nothing_seen(FILE *out)
{
	fputs("no RDMA call was seen\n"
	      "  the program made none, or made them where a preloaded library does not see them: "
	      "see LIMITS in warmverbs(7)\n",
	      out);
	return 0;
}

int wv_report_text(const struct wv_run *run, FILE *out)
{
	struct wv_summary s;
	int err;

	if (!run->n)
		return print_nothing_seen(out);
	wv_summarise(run, &s);
	err = print_events(run, out);
	if (err)
		return err;
	fprintf(out,
		"\ncommands: %u from the lease, %u to the kernel (%u of them diverged from the "
		"recipe), %u recorded\n",
		s.adopted, s.kernel, s.diverged, s.recorded);
	if (s.spares)
		fprintf(out, "spares: %u commands answered by QPs that were created ahead\n",
			s.spares);
	if (s.paired)
		fprintf(out, "pairs: %u moves to RTR and RTS of QPs that were connected ahead\n",
			s.paired);
	if (s.creating)
		fprintf(out,
			"warm: %s (done ahead: %u of %u commands that create an object or move a "
			"QP to INIT)\n",
			s.ahead == s.creating && !s.diverged ? "yes" : "no", s.ahead, s.creating);
	if (s.repairs)
		fprintf(out, "repairs: %u (steps of the lease that were undone)\n", s.repairs);
	if (s.copied)
		fprintf(out,
			"warning: %u (stale memory regions: a forked child posted memory that its "
			"parent registered and of which the child has only a copy)\n"
			"  the adapter reads and writes the parent's memory: register the memory "
			"in the child, make it shared before it is registered, or set "
			"WARMVERBS_SHARE_MR=1; see FORK in warmverbs(7)\n",
			s.copied);
	print_times(&s, out);
	print_opens(run, &s, out);
	return 0;
}

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
			 "s:i, s:i, s:i, s:i, s:o, s:o}}",
			 "events", events_json(run), "summary", "lease_wanted", run->lease_wanted,
			 "opens", s.opens, "leased", s.leased, "ready", s.ready, "without_lease",
			 without_lease_json(&s), "adopted", s.adopted, "kernel", s.kernel,
			 "diverged", s.diverged, "recorded", s.recorded, "spares", s.spares,
			 "paired", s.paired, "creating", s.creating, "ahead", s.ahead, "repairs",
			 s.repairs, "copied", s.copied, "to_init_ns", time_json(s.to_init),
			 "to_rts_ns", time_json(s.to_rts));
}

/* The reason that most opens without a lease have. */
static const struct wv_no_lease_row *main_reason(const struct wv_summary *s)
{
	unsigned int main = 0;

	for (unsigned int i = 1; i < WV_ARRAY_SIZE(s->without_lease); i++)
		if (s->without_lease[i] > s->without_lease[main])
			main = i;
	return wv_no_lease(main);
}

static void print_unleased(const struct wv_run *run, const struct wv_summary *s, FILE *out)
{
	const struct wv_no_lease_row *row = main_reason(s);

	if (!run->lease_wanted)
		fputs("no lease was requested (--no-lease or WARMVERBS_LEASE=0)", out);
	else if (s->opens)
		fprintf(out, "no lease: %s; %s", row->cause, row->remedy);
	else
		fputs("no device was opened", out);
}

/*
 * How long the run would have taken without a lease is not known, so nothing is said about it; when
 * its first QP was ready is.
 */
static void print_leased(const struct wv_summary *s, FILE *out)
{
	unsigned int before = s->adopted + s->spares + s->paired;
	unsigned int all = before + s->kernel + s->recorded;
	char text[WV_QUANTITY_MAX];

	fprintf(out, "%u of %u commands were done ahead (leases: %u of %u opens", before, all,
		s->leased, s->opens);
	if (s->ready)
		fprintf(out, ", prefork: %u", s->ready);
	if (s->spares)
		fprintf(out, ", spares: %u commands", s->spares);
	if (s->paired)
		fprintf(out, ", pairs: %u commands", s->paired);
	fputs(")", out);
	if (s->to_init)
		fprintf(out, ", first QP in INIT after %s", wv_format_ns(s->to_init, text));
}

int wv_report_line(const struct wv_run *run, FILE *out)
{
	struct wv_summary s;

	wv_summarise(run, &s);
	fputs("warmverbs: ", out);
	if (!run->n)
		fputs("no RDMA call was seen; see LIMITS in warmverbs(7)", out);
	else if (s.leased || s.ready || s.spares)
		print_leased(&s, out);
	else
		print_unleased(run, &s, out);
	fputc('\n', out);
	return 0;
}
