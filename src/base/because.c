/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/because.h"

#include <stdarg.h>
#include <stdio.h>

int wv_because(struct wv_reason_text *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);
	return 1;
}
