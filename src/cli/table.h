/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text in aligned columns. libsmartcols lays it out, and writes control characters as \xNN, so that
 * a program's name cannot change the terminal.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Columns are added first, then cells from left to right, row by row. */
struct wv_table {
	struct libscols_table *scols;
	struct libscols_line *line; /* the row to which the next cell belongs */
	unsigned int column;	    /* of the next cell */
	bool incomplete;	    /* out of memory */
};

/* Starts a table. wv_table_end() reports all errors. */
void wv_table_begin(struct wv_table *t);

/* Adds a column, aligned to the left, or to the @right for numbers. No titles if @title is NULL. */
void wv_table_add_column(struct wv_table *t, const char *title, bool right);

/* Adds the text as the next cell. */
void wv_table_add_cell(struct wv_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints titles and rows, nothing if there are no rows; frees the table. 0 or -ENOMEM. */
int wv_table_end(struct wv_table *t, FILE *out);
