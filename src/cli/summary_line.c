/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/summary_line.h"

#include "base/base.h"
#include "cli/no_lease.h"
#include "cli/units.h"

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
	unsigned int before = s->adopted + s->spares;
	unsigned int all = before + s->kernel + s->recorded;
	char text[WV_QUANTITY_MAX];

	fprintf(out, "%u of %u commands were done ahead (leases: %u of %u opens", before, all,
		s->leased, s->opens);
	if (s->ready)
		fprintf(out, ", prefork: %u", s->ready);
	if (s->spares)
		fprintf(out, ", spares: %u commands", s->spares);
	fputs(")", out);
	if (s->to_init)
		fprintf(out, ", first QP in INIT after %s", wv_format_ns(s->to_init, text));
}

int wv_summary_line(const struct wv_run *run, FILE *out)
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
