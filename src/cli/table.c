/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "base/base.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdarg.h>

void wv_table_begin(struct wv_table *t)
{
	*t = (struct wv_table){.scols = scols_new_table()};
	/*
	 * Without TERMFORCE_NEVER the library would cut columns to the width of the terminal that
	 * stdout is, which need not be where the table is printed.
	 */
	t->incomplete = !t->scols || scols_table_set_termforce(t->scols, SCOLS_TERMFORCE_NEVER) ||
			scols_table_set_column_separator(t->scols, "  ") ||
			scols_table_enable_minout(t->scols, 1);
}

void wv_table_add_column(struct wv_table *t, const char *title, bool right)
{
	if (!t->incomplete)
		t->incomplete =
		    !scols_table_new_column(t->scols, title, 0, right ? SCOLS_FL_RIGHT : 0) ||
		    scols_table_enable_noheadings(t->scols, !title);
}

void wv_table_add_cell(struct wv_table *t, const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	if (!t->incomplete && t->column == 0)
		t->line = scols_table_new_line(t->scols, NULL);
	if (t->incomplete || !t->line) {
		t->incomplete = true;
		return;
	}
	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	/* The line frees the text. */
	t->incomplete = length < 0 || scols_line_refer_data(t->line, t->column, text);
	t->column = (t->column + 1) % (unsigned int)scols_table_get_ncols(t->scols);
}

/* Returns the table as text, or NULL if there is not enough memory. */
static char *text_of(struct wv_table *t)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	bool ok = out && !scols_table_set_stream(t->scols, out) && !scols_print_table(t->scols);

	if (out && fclose(out))
		ok = false;
	if (ok)
		return text;
	free(text);
	return NULL;
}

int wv_table_end(struct wv_table *t, FILE *out)
{
	wv_auto_free char *text = t->incomplete ? NULL : text_of(t);

	if (text)
		fputs(text, out); /* at once: stderr writes each part that it is given */
	scols_unref_table(t->scols);
	return text ? 0 : -ENOMEM;
}
