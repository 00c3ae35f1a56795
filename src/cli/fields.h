/*
 * Lists of JSON objects as tables: one row of `struct wv_json_column` per column.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

enum wv_cell {
	WV_CELL_TEXT,
	WV_CELL_YES,  /* a truth value */
	WV_CELL_USER, /* a uid, by name */
	WV_CELL_NUMBER,
	WV_CELL_BYTES,
	WV_CELL_US, /* microseconds; nothing for 0 */
	WV_CELL_OF, /* "3/8" */
};

struct wv_json_column {
	const char *title;
	enum wv_cell cell;
	const char *path;  /* "counters.hits": names of nested objects */
	const char *total; /* WV_CELL_OF: path of what it is out of */
};

/* What is at @path below @object, or NULL. */
json_t *wv_json_at(json_t *object, const char *path);

/* 0 if it is not there or no number. */
uint64_t wv_json_number_at(json_t *object, const char *path);

/* Prints a table with a row for each object, or @nothing if there are none. 0 or -ENOMEM. */
int wv_print_objects(json_t *array, const struct wv_json_column *columns, unsigned int n_columns,
		     const char *nothing, FILE *out);
