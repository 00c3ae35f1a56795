/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/summary.h"

#include "cli/command_text.h"

#include <infiniband/verbs.h>
#include <string.h>

uint64_t wv_run_start(const struct wv_run *run, const struct wv_trace *event)
{
	for (size_t i = 0; i < run->n; i++)
		if (run->records[i].pid == event->pid)
			return run->records[i].start;
	return event->start;
}

static void count_open(const struct wv_trace *event, struct wv_summary *s)
{
	s->opens++;
	if (event->how == WV_HOW_ADOPTED)
		s->leased++;
	else if (event->how == WV_HOW_PREFORKED)
		s->ready++;
	else
		s->without_lease[event->no_lease < WV_NO_LEASE_REASONS ? event->no_lease
								       : WV_NO_LEASE_UNFIT]++;
}

static bool is_divergence(const struct wv_trace *event, const struct wv_summary *s)
{
	switch (event->why.why) {
	case WV_WHY_NONE:
	case WV_WHY_PASS:
	case WV_WHY_NO_LEASE:
	case WV_WHY_OTHER_PEER: /* no recipe has what follows it either */
	case WV_WHY_PEER_GONE:
	case WV_WHY_OTHER_MOVES:
		return false;
	case WV_WHY_UNKNOWN: /* also given where there is no lease */
		return s->leased > 0;
	default:
		return !event->error; /* src/preload/core/passage.c */
	}
}

static void count_command(const struct wv_trace *event, struct wv_summary *s)
{
	switch (event->how) {
	case WV_HOW_ADOPTED:
		s->adopted++;
		break;
	case WV_HOW_RECORDED:
		s->recorded++;
		break;
	case WV_HOW_SPARE:
		s->spares++;
		break;
	case WV_HOW_PAIR:
		s->paired++;
		break;
	default:
		s->kernel++;
		s->diverged += is_divergence(event, s);
		break;
	}
}

static bool creates(const struct wv_trace *event)
{
	struct wv_command_id command = wv_command_of(event);
	const struct wv_command_row *row = wv_command_row(&command);

	if (wv_command_moves_qp(&command))
		return event->qp_state == IBV_QPS_INIT;
	return row && row->class_ == WV_CREATE;
}

static void count_creating(const struct wv_trace *event, struct wv_summary *s)
{
	if (event->error || event->why.why == WV_WHY_PASS || !creates(event))
		return;
	s->creating++;
	s->ahead += event->how == WV_HOW_ADOPTED || event->how == WV_HOW_PREFORKED ||
		    event->how == WV_HOW_SPARE;
}

static void note_time(const struct wv_trace *event, uint64_t since, struct wv_summary *s)
{
	struct wv_command_id command = wv_command_of(event);

	if (!wv_command_moves_qp(&command) || event->error)
		return;
	if (event->qp_state == IBV_QPS_INIT && !s->to_init)
		s->to_init = event->end - since;
	if (event->qp_state == IBV_QPS_RTS && !s->to_rts)
		s->to_rts = event->end - since;
}

void wv_summarise(const struct wv_run *run, struct wv_summary *s)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < run->n; i++) {
		const struct wv_trace *event = &run->records[i];

		switch (event->kind) {
		case WV_TRACE_LIST:
			break;
		case WV_TRACE_OPEN:
			count_open(event, s);
			break;
		case WV_TRACE_COMMAND:
			count_command(event, s);
			count_creating(event, s);
			note_time(event, wv_run_start(run, event), s);
			break;
		case WV_TRACE_COPIED:
			s->copied++;
			break;
		default:
			s->repairs++;
			break;
		}
	}
}
