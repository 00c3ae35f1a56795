#include "cli/table.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2 /* blanks between columns */

void wv_table_begin(struct wv_table *t, const struct wv_column *columns, unsigned int n_columns)
{
	assert(n_columns <= WV_TABLE_MAX_COLUMNS);
	*t = (struct wv_table){.columns = columns, .n_columns = n_columns};
}

static bool make_room(struct wv_table *t)
{
	size_t capacity = t->capacity ? 2 * t->capacity : 64;
	char **cells;

	if (t->n_cells < t->capacity)
		return true;
	cells = reallocarray(t->cells, capacity, sizeof(*cells));
	if (!cells)
		return false;
	t->cells = cells;
	t->capacity = capacity;
	return true;
}

void wv_table_cell(struct wv_table *t, const char *format, ...)
{
	va_list args;

	if (t->incomplete || !make_room(t)) {
		t->incomplete = true;
		return;
	}
	va_start(args, format);
	if (vasprintf(&t->cells[t->n_cells], format, args) < 0)
		t->incomplete = true;
	else
		t->n_cells++;
	va_end(args);
}

static int column_width(const struct wv_table *t, unsigned int column)
{
	size_t width = strlen(t->columns[column].title);

	for (size_t i = column; i < t->n_cells; i += t->n_columns)
		if (strlen(t->cells[i]) > width)
			width = strlen(t->cells[i]);
	return (int)width;
}

/* Blanks are printed when a text follows them, so that no line ends with one. */
static void print_cell(FILE *out, const struct wv_column *column, int width, const char *text,
		       int *blanks)
{
	int rest = width - (int)strlen(text);

	if (column->right)
		*blanks += rest;
	if (*text) {
		fprintf(out, "%*s%s", *blanks, "", text);
		*blanks = 0;
	}
	*blanks += GAP + (column->right ? 0 : rest);
}

static void print(const struct wv_table *t, FILE *out)
{
	int widths[WV_TABLE_MAX_COLUMNS];
	int blanks = 0;

	for (unsigned int c = 0; c < t->n_columns; c++) {
		widths[c] = column_width(t, c);
		print_cell(out, &t->columns[c], widths[c], t->columns[c].title, &blanks);
	}
	for (size_t i = 0; i < t->n_cells; i++) {
		unsigned int c = (unsigned int)(i % t->n_columns);

		if (c == 0) {
			fputc('\n', out);
			blanks = 0;
		}
		print_cell(out, &t->columns[c], widths[c], t->cells[i], &blanks);
	}
	fputc('\n', out);
}

int wv_table_end(struct wv_table *t, FILE *out)
{
	if (!t->incomplete)
		print(t, out);
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	return t->incomplete ? -ENOMEM : 0;
}
