/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/findings.h"

#include <stdarg.h>
#include <stdio.h>
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
