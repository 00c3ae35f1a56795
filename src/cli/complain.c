/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/complain.h"

#include <stdarg.h>
#include <stdio.h>

void wv_complain(const char *remedy, const char *cause, ...)
{
	va_list args;

	va_start(args, cause);
	fputs("warmverbs: ", stderr);
	vfprintf(stderr, cause, args);
	fputc('\n', stderr);
	va_end(args);
	if (remedy)
		fprintf(stderr, "  %s\n", remedy);
}
