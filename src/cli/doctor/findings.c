/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/findings.h"

#include <stdarg.h>
#include <unistd.h>

/* Names in sysfs and elsewhere are others': a terminal gets no control character from them. */
static void write_text(char *text, size_t capacity, const char *format, va_list args)
{
	if (vsnprintf(text, capacity, format, args) < 0)
		*text = '\0';
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

void wv_found(struct wv_doctor *d, enum wv_mark mark, const char *format, ...)
{
	struct wv_finding *finding;
	va_list args;

	d->last = NULL;
	if (d->n_findings == WV_MAX_FINDINGS)
		return;
	finding = d->last = &d->findings[d->n_findings++];
	finding->mark = mark;
	finding->check = d->check;
	*finding->remedy = '\0';
	va_start(args, format);
	write_text(finding->found, sizeof(finding->found), format, args);
	va_end(args);
}

void wv_remedy(struct wv_doctor *d, const char *format, ...)
{
	va_list args;

	if (!d->last)
		return;
	va_start(args, format);
	write_text(d->last->remedy, sizeof(d->last->remedy), format, args);
	va_end(args);
}

const char *wv_as_root(void)
{
	return geteuid() ? "as root: " : "";
}

unsigned int wv_count_findings(const struct wv_doctor *d, enum wv_mark mark)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < d->n_findings; i++)
		n += d->findings[i].mark == mark;
	return n;
}

static const struct {
	const char *text, *json;
} marks[] = {
    [WV_MARK_OK] = {"ok", "ok"},
    [WV_MARK_NOTE] = {"note", "note"},
    [WV_MARK_FAIL] = {"FAIL", "fail"},
};

void wv_doctor_text(const struct wv_doctor *d, FILE *out)
{
	unsigned int fails = wv_count_findings(d, WV_MARK_FAIL);
	unsigned int notes = wv_count_findings(d, WV_MARK_NOTE);

	for (unsigned int i = 0; i < d->n_findings; i++) {
		const struct wv_finding *f = &d->findings[i];

		fprintf(out, "%-4s  %-11s  %s\n", marks[f->mark].text, f->check, f->found);
		if (*f->remedy)
			fprintf(out, "                   > %s\n", f->remedy);
	}
	if (fails)
		fprintf(out, "\n%u %s programs from leases: they run with plain verbs\n", fails,
			fails == 1 ? "problem keeps" : "problems keep");
	else
		fprintf(out,
			"\nall is well%s; if a program is not faster: warmverbs explain -- "
			"PROGRAM\n",
			notes ? ", but see the notes" : "");
}

/* As its last member, the remedy is null where there is nothing to do. */
static json_t *finding_json(const struct wv_finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:o}", "check", f->check, "mark", marks[f->mark].json,
			 "found", f->found, "remedy",
			 *f->remedy ? json_string(f->remedy) : json_null());
}

json_t *wv_doctor_json(const struct wv_doctor *d)
{
	json_t *findings = json_array();

	for (unsigned int i = 0; i < d->n_findings; i++)
		json_array_append_new(findings, finding_json(&d->findings[i]));
	return json_pack("{s:s, s:b, s:o}", "version", WV_VERSION, "well",
			 !wv_count_findings(d, WV_MARK_FAIL), "findings", findings);
}
