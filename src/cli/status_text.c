/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/status_text.h"

#include "base/base.h"
#include "cli/command_text.h"
#include "cli/fields.h"
#include "cli/units.h"

static const struct wv_json_column device_columns[] = {
    {"device", WV_CELL_TEXT, "name", NULL},	{"node", WV_CELL_TEXT, "node", NULL},
    {"driver", WV_CELL_TEXT, "driver", NULL},	{"leased", WV_CELL_YES, "leased", NULL},
    {"leases", WV_CELL_NUMBER, "leases", NULL},
};

static const struct wv_json_column user_columns[] = {
    {"user", WV_CELL_USER, "uid", NULL},	   {"connected", WV_CELL_NUMBER, "clients", NULL},
    {"recipes", WV_CELL_NUMBER, "recipes", NULL},  {"leases", WV_CELL_NUMBER, "use.leases", NULL},
    {"memory", WV_CELL_BYTES, "use.memory", NULL},
};

/* How well a recipe serves. */
static const struct wv_json_column service_columns[] = {
    {"recipe", WV_CELL_TEXT, "id", NULL},
    {"user", WV_CELL_USER, "uid", NULL},
    {"program", WV_CELL_TEXT, "comm", NULL},
    {"name", WV_CELL_TEXT, "key.name", NULL},
    {"ready", WV_CELL_OF, "pool.ready", "pool.target"},
    {"requested", WV_CELL_NUMBER, "pool.requested", NULL},
    {"hits", WV_CELL_NUMBER, "counters.hits", NULL},
    {"warm", WV_CELL_NUMBER, "counters.warm", NULL},
    {"misses", WV_CELL_NUMBER, "counters.misses", NULL},
    {"records", WV_CELL_NUMBER, "counters.records", NULL},
    {"adopted", WV_CELL_NUMBER, "counters.adopted", NULL},
    {"diverged", WV_CELL_NUMBER, "counters.diverged", NULL},
    {"spares", WV_CELL_NUMBER, "counters.spares", NULL},
    {"made in", WV_CELL_US, "pool.build_us_median", NULL},
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
	uint16_t attr = (uint16_t)wv_json_number_at(divergence, "attr");
	const char *why = json_string_value(json_object_get(divergence, "why")) ?: "?";

	fprintf(out, "%s: last divergence: %s: %s",
		json_string_value(json_object_get(recipe, "id")) ?: "?",
		json_string_value(json_object_get(divergence, "command")) ?: "?",
		wv_reason(&command, why));
	if (attr) {
		fputs(": ", out);
		wv_print_value_name(out, &command, attr,
				    (uint32_t)wv_json_number_at(divergence, "offset"));
	}
	fputc('\n', out);
}

/* Prints a line for each problem of a recipe. */
static void print_remarks(json_t *recipe, FILE *out)
{
	const char *id = json_string_value(json_object_get(recipe, "id")) ?: "?";
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
			fprintf(out, "%s: not leased: %s\n",
				json_string_value(json_object_get(device, "name")) ?: "?",
				json_string_value(because));
	}
}

static void print_head(json_t *status, FILE *out)
{
	unsigned long long up = wv_json_number_at(status, "uptime_s");

	fprintf(out, "warmverbsd %s at %s, up %llu:%02llu:%02llu\n",
		json_string_value(json_object_get(status, "version")) ?: "?",
		json_string_value(json_object_get(status, "socket")) ?: "?", up / 3600,
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

	print_head(status, out);
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
		print_remarks(recipe, out);
	return err;
}
