/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/metrics.h"

#include "base/base.h"
#include "cli/fields.h"

enum kind { GAUGE, COUNTER };

/* A value of an object; one that the object lacks has no sample. */
struct metric {
	const char *name; /* after "warmverbs_" */
	const char *path;
	enum kind kind;
	double unit; /* of the value at @path, in the metric's base unit; 0: 1 */
	const char *help;
};

struct label {
	const char *name, *path;
};

/* What all objects of one array have; without @path: the whole document. */
struct group {
	const char *path;
	const struct label *labels;
	unsigned int n_labels;
	const struct metric *metrics;
	unsigned int n_metrics;
};

static const struct metric of_node[] = {
    {"uptime_seconds", "uptime_s", GAUGE, 0, "Time since the daemon started."},
    {"pooled_leases", "use.leases", GAUGE, 0, "Leases that are ready."},
    {"pooled_leases_limit", "budgets.leases", GAUGE, 0, "How many leases may be ready."},
    {"pooled_memory_bytes", "use.memory", GAUGE, 0, "Kernel memory of the leases that are ready."},
    {"pooled_memory_limit_bytes", "budgets.memory", GAUGE, 0,
     "Kernel memory that leases may take while they are ready."},
    {"leases_out", "use.leases_out", GAUGE, 0, "Leases that programs have."},
    {"memory_out_bytes", "use.memory_out", GAUGE, 0, "Kernel memory of leases that programs have."},
    {"memory_out_limit_bytes", "budgets.memory_out", GAUGE, 0,
     "Kernel memory that leases may take while programs have them."},
    {"descriptors", "use.descriptors", GAUGE, 0, "Descriptors of the leases that are ready."},
    {"clients", "clients.connected", GAUGE, 0, "Programs that are connected."},
    {"clients_accepted_total", "clients.accepted", COUNTER, 0, "Connections of programs."},
    {"clients_malformed_total", "clients.malformed", COUNTER, 0,
     "Connections that were closed because of what they sent."},
    {"clients_silent_total", "clients.silent", COUNTER, 0,
     "Connections that were closed because they sent nothing."},
    {"clients_over_limit_total", "clients.over_limit", COUNTER, 0,
     "Connections that were refused because of a limit."},
    {"clients_denied_total", "clients.denied", COUNTER, 0,
     "Requests for a device that the program may not use."},
};

static const struct label device_labels[] = {{"device", "name"}, {"driver", "driver"}};
static const struct metric of_device[] = {
    {"device_leased", "leased", GAUGE, 0, "1 if leases of the device are made, or 0."},
    {"device_pooled_leases", "leases", GAUGE, 0, "Leases of the device that are ready."},
};

static const struct label user_labels[] = {{"uid", "uid"}};
static const struct metric of_user[] = {
    {"user_clients", "clients", GAUGE, 0, "Programs of the user that are connected."},
    {"user_recipes", "recipes", GAUGE, 0, "Recipes of the user."},
    {"user_pooled_leases", "use.leases", GAUGE, 0, "Leases of the user that are ready."},
    {"user_pooled_memory_bytes", "use.memory", GAUGE, 0,
     "Kernel memory of the user's leases that are ready."},
    {"user_leases_out", "use.leases_out", GAUGE, 0, "Leases that the user's programs have."},
    {"user_memory_out_bytes", "use.memory_out", GAUGE, 0,
     "Kernel memory of the leases that the user's programs have."},
};

static const struct label recipe_labels[] = {
    {"recipe", "id"},	  {"uid", "uid"},	   {"program", "comm"},
    {"name", "key.name"}, {"device", "key.ibdev"}, {"open", "key.open_number"},
};
/* Hits and warm runs are no counters: a lease that turns out unused is taken back from them. */
static const struct metric of_recipe[] = {
    {"recipe_ready", "pool.ready", GAUGE, 0, "Leases that are ready."},
    {"recipe_target", "pool.target", GAUGE, 0, "Leases that the daemon wants to have ready."},
    {"recipe_requested", "pool.requested", GAUGE, 0, "Leases that a running program requested."},
    {"recipe_build_seconds", "pool.build_us_median", GAUGE, 1e-6,
     "Median time in which a lease was made."},
    {"recipe_build_failures", "pool.failures", GAUGE, 0,
     "Leases that could not be made, since the last one that could."},
    {"recipe_built_total", "pool.built", COUNTER, 0, "Leases that were made."},
    {"recipe_hits", "counters.hits", GAUGE, 0, "Leases that programs got."},
    {"recipe_misses_total", "counters.misses", COUNTER, 0,
     "Requests for which no lease was ready."},
    {"recipe_records_total", "counters.records", COUNTER, 0, "Runs that were recorded."},
    {"recipe_reports_total", "counters.reports", COUNTER, 0, "Runs with a lease that reported."},
    {"recipe_warm", "counters.warm", GAUGE, 0, "Reports of runs that did not diverge."},
    {"recipe_commands_adopted_total", "counters.adopted", COUNTER, 0,
     "Commands that leases answered."},
    {"recipe_commands_kernel_total", "counters.kernel", COUNTER, 0,
     "Commands that no lease can answer."},
    {"recipe_commands_diverged_total", "counters.diverged", COUNTER, 0,
     "Commands that a lease could have answered, and did not."},
    {"recipe_spares_total", "counters.spares", COUNTER, 0, "Queue pairs that came from spares."},
};

#define GROUP(path, labels, metrics)                                                               \
	{                                                                                          \
		path, labels, WV_ARRAY_SIZE(labels), metrics, WV_ARRAY_SIZE(metrics)               \
	}

static const struct group groups[] = {
    {NULL, NULL, 0, of_node, WV_ARRAY_SIZE(of_node)},
    GROUP("devices", device_labels, of_device),
    GROUP("users", user_labels, of_user),
    GROUP("recipes", recipe_labels, of_recipe),
};

static void print_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_label(const struct label *label, json_t *object, FILE *out)
{
	json_t *value = wv_json_at(object, label->path);

	fprintf(out, "%s=\"", label->name);
	if (json_is_integer(value))
		fprintf(out, "%lld", (long long)json_integer_value(value));
	else
		print_escaped(json_string_value(value) ?: "", out);
	fputc('"', out);
}

static void print_labels(const struct group *group, json_t *object, FILE *out)
{
	for (unsigned int i = 0; i < group->n_labels; i++) {
		fputc(i ? ',' : '{', out);
		print_label(&group->labels[i], object, out);
	}
	if (group->n_labels)
		fputc('}', out);
}

static double value_of(const struct metric *metric, json_t *value)
{
	if (json_is_boolean(value))
		return json_is_true(value);
	return (double)json_integer_value(value) * (metric->unit > 0 ? metric->unit : 1);
}

static void print_sample(const struct group *group, const struct metric *metric, json_t *object,
			 FILE *out)
{
	json_t *value = wv_json_at(object, metric->path);

	if (!json_is_integer(value) && !json_is_boolean(value))
		return;
	fprintf(out, "warmverbs_%s", metric->name);
	print_labels(group, object, out);
	fprintf(out, " %.15g\n", value_of(metric, value));
}

static void print_metric(const struct group *group, const struct metric *metric, json_t *status,
			 FILE *out)
{
	json_t *object;
	size_t i;

	fprintf(out, "# HELP warmverbs_%s %s\n# TYPE warmverbs_%s %s\n", metric->name, metric->help,
		metric->name, metric->kind == COUNTER ? "counter" : "gauge");
	if (!group->path) {
		print_sample(group, metric, status, out);
		return;
	}
	json_array_foreach (json_object_get(status, group->path), i, object)
		print_sample(group, metric, object, out);
}

int wv_print_metrics(json_t *status, FILE *out)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(groups); i++)
		for (unsigned int j = 0; j < groups[i].n_metrics; j++)
			print_metric(&groups[i], &groups[i].metrics[j], status, out);
	return 0;
}
