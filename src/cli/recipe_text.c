/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/recipe_text.h"

#include "base/base.h"
#include "cli/command_text.h"
#include "cli/fields.h"
#include "cli/table.h"
#include "store/steps_json.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* What a recipe is. */
static const struct wv_json_column recipe_columns[] = {
    {"recipe", WV_CELL_TEXT, "id", NULL},
    {"user", WV_CELL_USER, "uid", NULL},
    {"program", WV_CELL_TEXT, "comm", NULL},
    {"name", WV_CELL_TEXT, "key.name", NULL},
    {"device", WV_CELL_TEXT, "key.ibdev", NULL},
    {"open", WV_CELL_NUMBER, "key.open_number", NULL},
    {"steps", WV_CELL_NUMBER, "steps", NULL},
    {"CQs", WV_CELL_NUMBER, "cost.cqs", NULL},
    {"SRQs", WV_CELL_NUMBER, "cost.srqs", NULL},
    {"QPs", WV_CELL_NUMBER, "cost.qps", NULL},
    {"memory", WV_CELL_BYTES, "cost.bytes", NULL},
};

static int print_values_cell(struct wv_table *table, uint32_t driver_id, struct wv_step *step)
{
	wv_auto_free char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return -ENOMEM;
	wv_print_step_values(out, driver_id, step);
	if (ferror(out) | fclose(out) || !text)
		return -ENOMEM;
	wv_table_add_cell(table, "%s", text);
	return 0;
}

static int print_steps(struct wv_cmdlog *cmdlog, FILE *out)
{
	struct wv_table table;
	unsigned int i = 0;
	int err = 0;

	wv_table_begin(&table);
	wv_table_add_column(&table, "step", true);
	wv_table_add_column(&table, "command", false);
	wv_table_add_column(&table, "error", false);
	wv_table_add_column(&table, "asks for", false);
	wv_each_step (cmdlog, step) {
		wv_table_add_cell(&table, "%u", i++);
		wv_table_add_cell(&table, "%s", wv_step_row(step)->name);
		wv_table_add_cell(&table, "%s", step->error ? strerrorname_np(step->error) : "");
		if (!err)
			err = print_values_cell(&table, cmdlog->driver_id, step);
	}
	return wv_table_end(&table, out) ?: err;
}

static void add_text(struct wv_table *table, const char *title, json_t *text)
{
	wv_table_add_cell(table, "%s:", title);
	wv_table_add_cell(table, "%s", json_string_value(text) ?: "?");
}

static void add_date(struct wv_table *table, const char *title, json_t *seconds)
{
	time_t at = (time_t)json_integer_value(seconds);
	char text[32] = "";
	struct tm parts;

	if (localtime_r(&at, &parts))
		strftime(text, sizeof(text), "%F %T", &parts);
	wv_table_add_cell(table, "%s:", title);
	wv_table_add_cell(table, "%s", text);
}

static int print_head(json_t *recipe, FILE *out)
{
	json_t *key = json_object_get(recipe, "key");
	json_t *name = json_object_get(key, "name");
	struct wv_table table;

	wv_table_begin(&table);
	wv_table_add_column(&table, NULL, false);
	wv_table_add_column(&table, NULL, false);
	add_text(&table, "recipe", json_object_get(recipe, "id"));
	add_text(&table, "program", json_object_get(recipe, "comm"));
	if (json_string_length(name))
		add_text(&table, "name", name);
	wv_table_add_cell(&table, "device:");
	wv_table_add_cell(&table, "%s, open number %lld",
			  json_string_value(json_object_get(key, "ibdev")) ?: "?",
			  (long long)json_integer_value(json_object_get(key, "open_number")));
	add_date(&table, "recorded", json_object_get(recipe, "created"));
	add_date(&table, "last used", json_object_get(recipe, "used"));
	return wv_table_end(&table, out);
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
	err = print_head(recipe, out) ?: print_steps(cmdlog, out);
	free(cmdlog);
	return err;
}

int wv_print_recipes(json_t *status, FILE *out)
{
	return wv_print_objects(json_object_get(status, "recipes"), recipe_columns,
				WV_ARRAY_SIZE(recipe_columns),
				"no recipes: nothing was recorded yet", out);
}

int wv_print_forgotten(json_t *answer, FILE *out)
{
	fprintf(out, "forgotten: %llu\n",
		(unsigned long long)wv_json_number_at(answer, "forgotten"));
	return 0;
}
