/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/units.h"

#include "base/base.h"

#include <stdio.h>

/* Formats @value with three digits, in the largest unit in which it is at least 1. */
static const char *format(uint64_t value, unsigned int step, const char *const *units,
			  unsigned int n_units, char *text)
{
	double scaled = (double)value;
	unsigned int unit = 0;

	/* A value that would be rounded up to one of the next unit gets that unit. */
	while (scaled >= step - 0.5 && unit + 1 < n_units) {
		scaled /= step;
		unit++;
	}
	snprintf(text, WV_QUANTITY_MAX, "%.*f %s",
		 unit == 0 || scaled >= 99.95 ? 0
		 : scaled >= 9.995	      ? 1
					      : 2,
		 scaled, units[unit]);
	return text;
}

const char *wv_format_ns(uint64_t ns, char text[static WV_QUANTITY_MAX])
{
	static const char *const units[] = {"ns", "us", "ms", "s"};

	return format(ns, 1000, units, WV_ARRAY_SIZE(units), text);
}

const char *wv_format_bytes(uint64_t bytes, char text[static WV_QUANTITY_MAX])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

	return format(bytes, 1024, units, WV_ARRAY_SIZE(units), text);
}
