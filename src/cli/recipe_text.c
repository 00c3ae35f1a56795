#include "cli/recipe_text.h"

#include "base/base.h"
#include "cli/table.h"
#include "cli/values.h"
#include "store/recipe.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const struct wv_column columns[] = {
    {"step", true},
    {"command", false},
    {"error", false},
    {"asks for", false},
};

static int print_values_cell(struct wv_table *table, uint32_t driver_id, struct wv_step *step)
{
	wv_auto_free char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return -ENOMEM;
	wv_print_step_values(out, driver_id, step);
	fclose(out);
	wv_table_cell(table, "%s", text);
	return 0;
}

static int print_steps(struct wv_cmdlog *cmdlog, FILE *out)
{
	struct wv_table table;
	unsigned int i = 0;
	int err = 0;

	wv_table_begin(&table, columns, WV_ARRAY_SIZE(columns));
	wv_each_step (cmdlog, step) {
		wv_table_cell(&table, "%u", i++);
		wv_table_cell(&table, "%s", wv_step_row(step)->name);
		wv_table_cell(&table, "%s", step->error ? strerrorname_np(step->error) : "");
		if (!err)
			err = print_values_cell(&table, cmdlog->driver_id, step);
	}
	return wv_table_end(&table, out) ?: err;
}

static void print_date(FILE *out, const char *title, json_t *seconds)
{
	time_t at = (time_t)json_integer_value(seconds);
	char text[32] = "";
	struct tm parts;

	if (localtime_r(&at, &parts))
		strftime(text, sizeof(text), "%F %T", &parts);
	fprintf(out, "%s: %s\n", title, text);
}

static void print_head(json_t *recipe, FILE *out)
{
	json_t *key = json_object_get(recipe, "key");
	const char *name = json_string_value(json_object_get(key, "name"));

	fprintf(out, "recipe: %s\nprogram: %s\n",
		json_string_value(json_object_get(recipe, "id")) ?: "?",
		json_string_value(json_object_get(recipe, "comm")) ?: "?");
	if (name && *name)
		fprintf(out, "name: %s\n", name);
	fprintf(out, "device: %s, open number %lld\n",
		json_string_value(json_object_get(key, "ibdev")) ?: "?",
		(long long)json_integer_value(json_object_get(key, "open_number")));
	print_date(out, "recorded", json_object_get(recipe, "created"));
	print_date(out, "last used", json_object_get(recipe, "used"));
}

int wv_print_recipe(json_t *recipe, FILE *out)
{
	json_t *key = json_object_get(recipe, "key");
	struct wv_cmdlog *cmdlog;
	char why[160];
	int err =
	    wv_steps_from_json(json_object_get(recipe, "steps"),
			       (uint32_t)json_integer_value(json_object_get(key, "driver_id")),
			       &cmdlog, why, sizeof(why));

	if (err)
		return err == -ENOMEM ? err : -EPROTO;
	print_head(recipe, out);
	err = print_steps(cmdlog, out);
	free(cmdlog);
	return err;
}
