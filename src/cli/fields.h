/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printing JSON: arrays of objects as tables, and documents; access to nested objects.
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
	WV_CELL_US, /* microseconds; empty for 0 */
	WV_CELL_OF, /* "3/8" */
};

struct wv_json_column {
	const char *title;
	enum wv_cell cell;
	const char *path;  /* "counters.hits": names of nested objects */
	const char *total; /* WV_CELL_OF: path of the second number */
};

/* The value at @path below @object, or NULL. */
json_t *wv_json_at(json_t *object, const char *path);

/* The number at @path; 0 if there is none or it is negative. */
uint64_t wv_json_number_at(json_t *object, const char *path);

/* The text at @path; "?" if there is none. */
const char *wv_json_text_at(json_t *object, const char *path);

/* Prints a table with a row for each object, or @nothing if there are none. 0 or -ENOMEM. */
int wv_print_objects(json_t *array, const struct wv_json_column *columns, unsigned int n_columns,
		     const char *nothing, FILE *out);

/* Prints a document that was made since wv_json_begin(), and frees it. 0 or -ENOMEM. */
int wv_print_json(json_t *document, FILE *out);
