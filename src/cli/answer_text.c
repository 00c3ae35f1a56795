/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/answer_text.h"

#include "base/base.h"
#include "cli/command_text.h"
#include "cli/fields.h"
#include "cli/table.h"
#include "cli/units.h"
#include "store/steps_json.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const struct wv_json_column device_columns[] = {
    {"device", WV_CELL_TEXT, "name"},	  {"node", WV_CELL_TEXT, "node"},
    {"driver", WV_CELL_TEXT, "driver"},	  {"leased", WV_CELL_YES, "leased"},
    {"leases", WV_CELL_NUMBER, "leases"},
};

static const struct wv_json_column user_columns[] = {
    {"user", WV_CELL_USER, "uid"},	     {"connected", WV_CELL_NUMBER, "clients"},
    {"recipes", WV_CELL_NUMBER, "recipes"},  {"leases", WV_CELL_NUMBER, "use.leases"},
    {"memory", WV_CELL_BYTES, "use.memory"},
};

/* How well a recipe serves. */
static const struct wv_json_column service_columns[] = {
    {"recipe", WV_CELL_TEXT, "id"},
    {"user", WV_CELL_USER, "uid"},
    {"program", WV_CELL_TEXT, "comm"},
    {"name", WV_CELL_TEXT, "key.name"},
    {"ready", WV_CELL_OF, "pool.ready", "pool.target"},
    {"requested", WV_CELL_NUMBER, "pool.requested"},
    {"hits", WV_CELL_NUMBER, "counters.hits"},
    {"warm", WV_CELL_NUMBER, "counters.warm"},
    {"misses", WV_CELL_NUMBER, "counters.misses"},
    {"records", WV_CELL_NUMBER, "counters.records"},
    {"adopted", WV_CELL_NUMBER, "counters.adopted"},
    {"diverged", WV_CELL_NUMBER, "counters.diverged"},
    {"spares", WV_CELL_NUMBER, "counters.spares"},
    {"made in", WV_CELL_US, "pool.build_us_median"},
};

static void print_divergence(json_t *recipe, json_t *divergence, FILE *out)
{
	json_t *write_cmd = json_object_get(divergence, "write_cmd");
	struct wv_command_id command = {
	    .driver_id = (uint32_t)wv_json_number_at(divergence, "driver_id"),
	    .object = (uint16_t)wv_json_number_at(divergence, "object"),
	    .method = (uint16_t)wv_json_number_at(divergence, "method"),
	    .write_cmd = json_is_integer(write_cmd) ? (uint32_t)json_integer_value(write_cmd)
						    : WV_NO_WRITE_CMD,
	};

	fprintf(out, "%s: last divergence: %s: ", wv_json_text_at(recipe, "id"),
		wv_json_text_at(divergence, "command"));
	wv_print_reason(out, &command, wv_json_text_at(divergence, "why"),
			(uint16_t)wv_json_number_at(divergence, "attr"),
			(uint32_t)wv_json_number_at(divergence, "offset"));
	fputc('\n', out);
}

/* Prints a line for each problem of a recipe. */
static void print_recipe_remarks(json_t *recipe, FILE *out)
{
	const char *id = wv_json_text_at(recipe, "id");
	const char *unfit = json_string_value(json_object_get(recipe, "unfit"));
	const char *error = json_string_value(json_object_get(recipe, "error"));
	json_t *divergence = json_object_get(recipe, "divergence");

	if (unfit)
		fprintf(out, "%s: not prepared: %s\n", id, unfit);
	else if (error)
		fprintf(out, "%s: no lease could be made: %s\n", id, error);
	if (json_is_object(divergence))
		print_divergence(recipe, divergence, out);
}

/* Prints how many clients caused problems, if any did. */
static void print_problems(json_t *clients, FILE *out)
{
	static const char *const kinds[] = {"malformed", "silent", "over_limit", "denied"};
	const char *separator = "problems with clients: ";

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(kinds); i++) {
		unsigned long long n = wv_json_number_at(clients, kinds[i]);

		if (!n)
			continue;
		fprintf(out, "%s%llu %s", separator, n, kinds[i]);
		separator = ", ";
	}
	if (*separator == ',')
		fputc('\n', out);
}

static void print_use(const char *title, json_t *status, const char *leases, const char *memory,
		      FILE *out)
{
	char text[WV_QUANTITY_MAX];

	fprintf(out, "%s%llu leases, %s\n", title,
		(unsigned long long)wv_json_number_at(status, leases),
		wv_format_bytes(wv_json_number_at(status, memory), text));
}

/* Why devices get no leases. A daemon of another version may not say. */
static void print_unleased(json_t *devices, FILE *out)
{
	json_t *device;
	size_t i;

	json_array_foreach (devices, i, device) {
		json_t *because = json_object_get(device, "unleased_because");

		if (json_string_length(because))
			fprintf(out, "%s: not leased: %s\n", wv_json_text_at(device, "name"),
				json_string_value(because));
	}
}

static void print_status_head(json_t *status, FILE *out)
{
	unsigned long long up = wv_json_number_at(status, "uptime_s");

	fprintf(out, "warmverbsd %s at %s, up %llu:%02llu:%02llu\n",
		wv_json_text_at(status, "version"), wv_json_text_at(status, "socket"), up / 3600,
		up / 60 % 60, up % 60);
	print_use("pooled:   ", status, "use.leases", "use.memory", out);
	print_use("limit:    ", status, "budgets.leases", "budgets.memory", out);
	print_use("per user: ", status, "budgets.leases_per_user", "budgets.memory_per_user", out);
	print_use("in use:   ", status, "use.leases_out", "use.memory_out", out);
	print_problems(json_object_get(status, "clients"), out);
	fputc('\n', out);
}

int wv_print_status(json_t *status, FILE *out)
{
	json_t *devices = json_object_get(status, "devices");
	json_t *recipes = json_object_get(status, "recipes");
	json_t *recipe;
	size_t i;
	int err;

	print_status_head(status, out);
	err = wv_print_objects(devices, device_columns, WV_ARRAY_SIZE(device_columns),
			       "no RDMA devices", out);
	if (!err)
		print_unleased(devices, out);
	if (err || !json_array_size(recipes))
		return err;
	fputc('\n', out);
	err = wv_print_objects(json_object_get(status, "users"), user_columns,
			       WV_ARRAY_SIZE(user_columns), "no users", out);
	if (err)
		return err;
	fputc('\n', out);
	err = wv_print_objects(recipes, service_columns, WV_ARRAY_SIZE(service_columns),
			       "no recipes", out);
	json_array_foreach (recipes, i, recipe)
		print_recipe_remarks(recipe, out);
	return err;
}

/* What a recipe is. */
static const struct wv_json_column recipe_columns[] = {
    {"recipe", WV_CELL_TEXT, "id"},	     {"user", WV_CELL_USER, "uid"},
    {"program", WV_CELL_TEXT, "comm"},	     {"name", WV_CELL_TEXT, "key.name"},
    {"device", WV_CELL_TEXT, "key.ibdev"},   {"open", WV_CELL_NUMBER, "key.open_number"},
    {"steps", WV_CELL_NUMBER, "steps"},	     {"CQs", WV_CELL_NUMBER, "cost.cqs"},
    {"SRQs", WV_CELL_NUMBER, "cost.srqs"},   {"QPs", WV_CELL_NUMBER, "cost.qps"},
    {"memory", WV_CELL_BYTES, "cost.bytes"},
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

static void add_text(struct wv_table *table, const char *title, json_t *recipe, const char *path)
{
	wv_table_add_cell(table, "%s:", title);
	wv_table_add_cell(table, "%s", wv_json_text_at(recipe, path));
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

static int print_recipe_head(json_t *recipe, FILE *out)
{
	json_t *key = json_object_get(recipe, "key");
	struct wv_table table;

	wv_table_begin(&table);
	wv_table_add_column(&table, NULL, false);
	wv_table_add_column(&table, NULL, false);
	add_text(&table, "recipe", recipe, "id");
	add_text(&table, "program", recipe, "comm");
	if (json_string_length(json_object_get(key, "name")))
		add_text(&table, "name", recipe, "key.name");
	wv_table_add_cell(&table, "device:");
	wv_table_add_cell(&table, "%s, open number %lld", wv_json_text_at(key, "ibdev"),
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
	err = print_recipe_head(recipe, out) ?: print_steps(cmdlog, out);
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

#define SEEN_BY_ALL 4 /* columns; the others are for root */

static const struct wv_json_column peer_columns[] = {
    {"node", WV_CELL_TEXT, "node"},
    {"address", WV_CELL_TEXT, "address"},
    {"state", WV_CELL_TEXT, "state"},
    {"latency", WV_CELL_US, "round_trip_us"},
    {"edges", WV_CELL_NUMBER, "counters.edges"},
    {"pairs", WV_CELL_NUMBER, "counters.pairs"},
    {"hits", WV_CELL_NUMBER, "counters.hits"},
    {"mismatches", WV_CELL_NUMBER, "counters.mismatches"},
};

static void print_mismatches(json_t *peer, FILE *out)
{
	const char *separator = ": mismatches: ";
	const char *reason;
	json_t *n;

	if (!wv_json_number_at(peer, "counters.mismatches"))
		return;
	fputs(wv_json_text_at(peer, "node"), out);
	json_object_foreach(wv_json_at(peer, "counters.reasons"), reason, n)
	{
		if (!json_integer_value(n))
			continue;
		fprintf(out, "%s%lld %s", separator, (long long)json_integer_value(n), reason);
		separator = ", ";
	}
	fputc('\n', out);
}

static void print_peer_remarks(json_t *peer, FILE *out)
{
	const char *why = json_string_value(json_object_get(peer, "why"));

	if (why)
		fprintf(out, "%s: %s: %s\n", wv_json_text_at(peer, "node"),
			wv_json_text_at(peer, "state"), why);
	print_mismatches(peer, out);
}

int wv_print_peers(json_t *document, FILE *out)
{
	json_t *peers = json_object_get(document, "peers");
	json_t *first = json_array_get(peers, 0);
	const char *error = json_string_value(json_object_get(document, "credentials"));
	bool counted = json_is_object(json_object_get(first, "counters"));
	json_t *peer;
	size_t i;
	int err;

	if (!json_is_true(json_object_get(document, "on"))) {
		fputs("no peers: the option peers of warmverbsd.conf(5) names them\n", out);
		return 0;
	}
	if (error)
		fprintf(out, "credentials: %s\n", error);
	err = wv_print_objects(peers, peer_columns,
			       counted ? WV_ARRAY_SIZE(peer_columns) : SEEN_BY_ALL, "no peers yet",
			       out);
	json_array_foreach (peers, i, peer)
		print_peer_remarks(peer, out);
	return err;
}
