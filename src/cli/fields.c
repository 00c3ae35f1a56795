/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/fields.h"

#include "cli/table.h"
#include "cli/units.h"
#include "store/json_memory.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

json_t *wv_json_at(json_t *object, const char *path)
{
	while (object) {
		size_t length = strcspn(path, ".");

		object = json_object_getn(object, path, length);
		if (!path[length])
			return object;
		path += length + 1;
	}
	return NULL;
}

uint64_t wv_json_number_at(json_t *object, const char *path)
{
	json_int_t value = json_integer_value(wv_json_at(object, path));

	return value > 0 ? (uint64_t)value : 0;
}

const char *wv_json_text_at(json_t *object, const char *path)
{
	return json_string_value(wv_json_at(object, path)) ?: "?";
}

static void add_user(struct wv_table *table, uint64_t uid)
{
	const struct passwd *user = getpwuid((uid_t)uid);

	if (user)
		wv_table_add_cell(table, "%s", user->pw_name);
	else
		wv_table_add_cell(table, "%llu", (unsigned long long)uid);
}

static void add_cell(struct wv_table *table, json_t *object, const struct wv_json_column *column)
{
	json_t *value = wv_json_at(object, column->path);
	unsigned long long number = wv_json_number_at(object, column->path);
	char text[WV_QUANTITY_MAX];

	switch (column->cell) {
	case WV_CELL_TEXT:
		wv_table_add_cell(table, "%s", json_string_value(value) ?: "");
		break;
	case WV_CELL_YES:
		wv_table_add_cell(table, "%s", json_is_true(value) ? "yes" : "no");
		break;
	case WV_CELL_USER:
		add_user(table, number);
		break;
	case WV_CELL_NUMBER:
		wv_table_add_cell(table, "%llu", number);
		break;
	case WV_CELL_BYTES:
		wv_table_add_cell(table, "%s", wv_format_bytes(number, text));
		break;
	case WV_CELL_US:
		wv_table_add_cell(table, "%s", number ? wv_format_ns(number * 1000, text) : "");
		break;
	case WV_CELL_OF:
		wv_table_add_cell(table, "%llu/%llu", number,
				  (unsigned long long)wv_json_number_at(object, column->total));
		break;
	}
}

static int is_number(enum wv_cell cell)
{
	return cell >= WV_CELL_NUMBER;
}

int wv_print_objects(json_t *array, const struct wv_json_column *columns, unsigned int n_columns,
		     const char *nothing, FILE *out)
{
	struct wv_table table;
	json_t *object;
	size_t i;

	if (!json_array_size(array)) {
		fprintf(out, "%s\n", nothing);
		return 0;
	}
	wv_table_begin(&table);
	for (unsigned int c = 0; c < n_columns; c++)
		wv_table_add_column(&table, columns[c].title, is_number(columns[c].cell));
	json_array_foreach (array, i, object)
		for (unsigned int c = 0; c < n_columns; c++)
			add_cell(&table, object, &columns[c]);
	return wv_table_end(&table, out);
}

int wv_print_json(json_t *document, FILE *out)
{
	int failed = wv_json_was_short() ? -1 : json_dumpf(document, out, JSON_INDENT(2));

	json_decref(document);
	fputc('\n', out);
	return failed ? -ENOMEM : 0;
}
