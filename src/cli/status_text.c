#include "cli/status_text.h"

#include "base/base.h"
#include "cli/fields.h"

static const struct wv_json_column device_columns[] = {
    {"device", WV_CELL_TEXT, "name", NULL},
    {"node", WV_CELL_TEXT, "node", NULL},
    {"driver", WV_CELL_TEXT, "driver", NULL},
    {"leases", WV_CELL_NUMBER, "leases", NULL},
};

static const struct wv_json_column recipe_columns[] = {
    {"recipe", WV_CELL_TEXT, "id", NULL},
    {"uid", WV_CELL_NUMBER, "uid", NULL},
    {"program", WV_CELL_TEXT, "comm", NULL},
    {"name", WV_CELL_TEXT, "key.name", NULL},
    {"device", WV_CELL_TEXT, "key.ibdev", NULL},
    {"ready", WV_CELL_OF, "pool.ready", "pool.target"},
    {"hits", WV_CELL_NUMBER, "counters.hits", NULL},
    {"misses", WV_CELL_NUMBER, "counters.misses", NULL},
    {"diverged", WV_CELL_NUMBER, "counters.diverged", NULL},
    {"memory", WV_CELL_BYTES, "cost.bytes", NULL},
};

int wv_print_recipes(json_t *status, FILE *out)
{
	json_t *recipes = json_object_get(status, "recipes");

	if (!json_array_size(recipes)) {
		fputs("no recipes: none of your programs has been recorded yet\n", out);
		return 0;
	}
	return wv_print_objects(recipes, recipe_columns, WV_ARRAY_SIZE(recipe_columns), out);
}

int wv_print_status(json_t *status, FILE *out)
{
	json_t *devices = json_object_get(status, "devices");
	int err;

	err = wv_print_objects(devices, device_columns, WV_ARRAY_SIZE(device_columns), out);
	if (err)
		return err;
	fputc('\n', out);
	return wv_print_recipes(status, out);
}

int wv_print_forgotten(json_t *answer, FILE *out)
{
	fprintf(out, "%lld forgotten\n",
		(long long)json_integer_value(json_object_get(answer, "forgotten")));
	return 0;
}
