/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/report_text.h"

#include "base/base.h"
#include "cli/no_lease.h"
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
	if (s.creating)
		fprintf(out,
			"warm: %s (done ahead: %u of %u commands that create an object or move a "
			"QP to INIT)\n",
			s.ahead == s.creating ? "yes" : "no", s.ahead, s.creating);
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
