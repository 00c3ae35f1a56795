#include "cli/fields.h"

#include "cli/table.h"
#include "cli/units.h"

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

static long long number_at(json_t *object, const char *path)
{
	return (long long)json_integer_value(wv_json_at(object, path));
}

static void add_cell(struct wv_table *table, json_t *object, const struct wv_json_column *column)
{
	char text[WV_QUANTITY_MAX];
	json_t *value = wv_json_at(object, column->path);

	switch (column->cell) {
	case WV_CELL_TEXT:
		wv_table_cell(table, "%s", json_string_value(value) ?: "");
		break;
	case WV_CELL_NUMBER:
		wv_table_cell(table, "%lld", number_at(object, column->path));
		break;
	case WV_CELL_BYTES:
		wv_table_cell(table, "%s",
			      wv_format_bytes((uint64_t)json_integer_value(value), text));
		break;
	case WV_CELL_OF:
		wv_table_cell(table, "%lld/%lld", number_at(object, column->path),
			      number_at(object, column->total));
		break;
	}
}

int wv_print_objects(json_t *array, const struct wv_json_column *columns, unsigned int n_columns,
		     FILE *out)
{
	struct wv_column titles[WV_TABLE_MAX_COLUMNS];
	struct wv_table table;
	json_t *object;
	size_t i;

	for (unsigned int c = 0; c < n_columns; c++)
		titles[c] = (struct wv_column){columns[c].title, columns[c].cell != WV_CELL_TEXT};
	wv_table_begin(&table, titles, n_columns);
	json_array_foreach(array, i, object) for (unsigned int c = 0; c < n_columns; c++)
	    add_cell(&table, object, &columns[c]);
	return wv_table_end(&table, out);
}
