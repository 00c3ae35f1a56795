/*
 * Text in aligned columns.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define WV_TABLE_MAX_COLUMNS 16

struct wv_column {
	const char *title;
	bool right; /* numbers */
};

/* Cells are added from left to right, row by row. */
struct wv_table {
	const struct wv_column *columns;
	unsigned int n_columns;
	char **cells;
	size_t n_cells, capacity;
	bool incomplete; /* for want of memory */
};

void wv_table_begin(struct wv_table *t, const struct wv_column *columns, unsigned int n_columns);
void wv_table_cell(struct wv_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints the table below its titles and frees it. 0 or -ENOMEM. */
int wv_table_end(struct wv_table *t, FILE *out);
