/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/metrics.h"

#include "base/base.h"
#include "cli/fields.h"

#include <stdbool.h>

enum kind { GAUGE, COUNTER };

/* A value of an object; one that the object lacks has no sample. A text has the value 1. */
struct metric {
	const char *name; /* after "warmverbs_" */
	const char *path;
	enum kind kind;
	const char *help;
	double unit; /* of the value at @path, in the metric's base unit; 0: 1 */
};

struct label {
	const char *name, *path;
};

/* A sample for each object of the array at @path; without @path: for the document. */
struct group {
	const char *path;
	const struct label *labels;
	unsigned int n_labels;
	const struct metric *metrics;
	unsigned int n_metrics;
	bool is_detail; /* many samples on a node with many users */
};

static const struct label build_labels[] = {{"version", "version"}, {"kernel", "kernel"}};
static const struct metric of_build[] = {
    {"build_info", "version", GAUGE, "The daemon's version, and the kernel."},
};

static const struct metric of_node[] = {
    {"uptime_seconds", "uptime_s", GAUGE, "Time since the daemon started."},
    {"leases_held_limit", "budgets.leases", GAUGE, "How many leases the daemon may hold."},
    {"memory_bytes", "use.memory", GAUGE, "Kernel memory of the leases that the daemon holds."},
    {"memory_limit_bytes", "budgets.memory", GAUGE,
     "Kernel memory that leases may take while the daemon holds them."},
    {"leases_held", "use.leases", GAUGE,
     "Leases that the daemon holds: ready, being made, or being closed."},
    {"leases_out", "use.leases_out", GAUGE, "Leases that programs have."},
    {"memory_out_bytes", "use.memory_out", GAUGE, "Kernel memory of leases that programs have."},
    {"memory_out_limit_bytes", "budgets.memory_out", GAUGE,
     "Kernel memory that leases may take while programs have them."},
    {"descriptors", "use.descriptors", GAUGE, "Descriptors of the leases that the daemon holds."},
    {"clients", "clients.connected", GAUGE, "Programs that are connected."},
    {"clients_accepted_total", "clients.accepted", COUNTER, "Connections of programs."},
    {"clients_malformed_total", "clients.malformed", COUNTER,
     "Connections that were closed because of what they sent."},
    {"clients_silent_total", "clients.silent", COUNTER,
     "Connections that were closed because they sent nothing."},
    {"clients_over_limit_total", "clients.over_limit", COUNTER,
     "Connections that were refused because of a limit."},
    {"clients_denied_total", "clients.denied", COUNTER,
     "Requests for a device that the program may not use."},
    {"hits_total", "totals.hits", COUNTER, "Leases that programs got."},
    {"misses_total", "totals.misses", COUNTER, "Requests for which no lease was ready."},
    {"recordings_total", "totals.records", COUNTER, "Runs that were recorded."},
    {"reports_total", "totals.reports", COUNTER, "Runs with a lease that reported."},
    {"commands_adopted_total", "totals.adopted", COUNTER, "Commands that leases answered."},
    {"commands_kernel_total", "totals.kernel", COUNTER, "Commands that no lease can answer."},
    {"commands_diverged_total", "totals.diverged", COUNTER,
     "Commands that a lease could have answered, and did not."},
    {"spares_total", "totals.spares", COUNTER, "Queue pairs that came from spares."},
    {"pairs_ready", "pairs.ready", GAUGE, "Pairs that wait for a program."},
    {"pairs_out", "pairs.handed_out", GAUGE, "Pairs that programs have."},
    {"pair_edges", "pairs.edges", GAUGE, "Servers to which pairs are made, for each recipe."},
    {"pair_servers", "pairs.servers", GAUGE, "Processes whose spares are in pairs."},
    {"pairs_made_total", "pairs.made", COUNTER, "Pairs that were made."},
    {"pairs_used_total", "pairs.used", COUNTER, "Pairs that programs used."},
    {"pairs_idle_total", "pairs.idle", COUNTER, "Pairs that were given up unused."},
    {"pairs_lost_total", "pairs.lost", COUNTER, "Pairs whose other end has gone."},
    {"peer_connections", "connections", GAUGE, "Connections with other nodes, of any state."},
    {"peer_strangers_total", "turned_away", COUNTER,
     "Connections that strangers tried and that were refused."},
};

static const struct label peer_labels[] = {{"node", "node"}, {"address", "address"}};
static const struct label peer_state_labels[] = {{"node", "node"}, {"state", "state"}};
static const struct metric of_peer_state[] = {
    {"peer_state", "state", GAUGE, "The state of the connection with the node."},
};
static const struct metric of_peer[] = {
    {"peer_up_seconds", "up_s", GAUGE, "Time since the node was connected; 0: it is not."},
    {"peer_round_trip_seconds", "round_trip_us", GAUGE, "Time until the node answered last.", 1e-6},
    {"peer_edges", "counters.edges", GAUGE, "Servers of the node to which pairs are made."},
    {"peer_pairs", "counters.pairs", GAUGE, "Pairs with servers of the node."},
    {"peer_hits_total", "counters.hits", COUNTER, "Pairs with the node that programs used."},
    {"peer_mismatches_total", "counters.mismatches", COUNTER,
     "Pairs with the node that programs could not use."},
};

static const struct label device_labels[] = {{"device", "name"}, {"driver", "driver"}};
static const struct metric of_device[] = {
    {"device_leased", "leased", GAUGE, "1 if leases of the device are made, or 0."},
    {"device_leases_ready", "leases", GAUGE, "Leases of the device that are ready."},
};

static const struct label user_labels[] = {{"uid", "uid"}};
static const struct metric of_user[] = {
    {"user_clients", "clients", GAUGE, "Programs of the user that are connected."},
    {"user_recipes", "recipes", GAUGE, "Recipes of the user."},
    {"user_leases_held", "use.leases", GAUGE, "Leases that the daemon holds for the user."},
    {"user_memory_bytes", "use.memory", GAUGE, "Kernel memory of these leases."},
    {"user_leases_out", "use.leases_out", GAUGE, "Leases that the user's programs have."},
    {"user_memory_out_bytes", "use.memory_out", GAUGE,
     "Kernel memory of the leases that the user's programs have."},
};

static const struct label recipe_labels[] = {
    {"recipe", "id"},	  {"uid", "uid"},	   {"program", "comm"},
    {"name", "key.name"}, {"device", "key.ibdev"}, {"open", "key.open_number"},
};
/* Hits and warm reports are no counters: a lease that turns out unused is taken back from them. */
static const struct metric of_recipe[] = {
    {"recipe_leases_ready", "pool.ready", GAUGE, "Leases that are ready."},
    {"recipe_leases_wanted", "pool.target", GAUGE, "How many the daemon wants to have ready."},
    {"recipe_leases_requested", "pool.requested", GAUGE, "How many running programs requested."},
    {"recipe_build_seconds", "pool.build_us_median", GAUGE,
     "Median time in which a lease was made.", 1e-6},
    {"recipe_build_failures", "pool.failures", GAUGE,
     "Leases that could not be made, since the last one that could."},
    {"recipe_leases_built_total", "pool.built", COUNTER, "Leases that were made."},
    {"recipe_hits", "counters.hits", GAUGE, "Leases that programs got."},
    {"recipe_misses_total", "counters.misses", COUNTER, "Requests for which no lease was ready."},
    {"recipe_recordings_total", "counters.records", COUNTER, "Runs that were recorded."},
    {"recipe_reports_total", "counters.reports", COUNTER, "Runs with a lease that reported."},
    {"recipe_reports_warm", "counters.warm", GAUGE, "Reports of runs that did not diverge."},
    {"recipe_commands_adopted_total", "counters.adopted", COUNTER,
     "Commands that leases answered."},
    {"recipe_commands_kernel_total", "counters.kernel", COUNTER,
     "Commands that no lease can answer."},
    {"recipe_commands_diverged_total", "counters.diverged", COUNTER,
     "Commands that a lease could have answered, and did not."},
    {"recipe_spares_total", "counters.spares", COUNTER, "Queue pairs that came from spares."},
};

#define GROUP(path, labels, metrics, is_detail)                                                    \
	{                                                                                          \
		path, labels, WV_ARRAY_SIZE(labels), metrics, WV_ARRAY_SIZE(metrics), is_detail    \
	}

static const struct group groups[] = {
    GROUP(NULL, build_labels, of_build, false),
    {NULL, NULL, 0, of_node, WV_ARRAY_SIZE(of_node), false},
    GROUP("devices", device_labels, of_device, false),
    GROUP("peers", peer_state_labels, of_peer_state, false),
    GROUP("peers", peer_labels, of_peer, false),
    GROUP("users", user_labels, of_user, true),
    GROUP("recipes", recipe_labels, of_recipe, true),
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

/* False: the object lacks it. */
static bool value_of(const struct metric *metric, json_t *object, double *value)
{
	json_t *json = wv_json_at(object, metric->path);

	if (json_is_integer(json))
		*value = (double)json_integer_value(json) * (metric->unit > 0 ? metric->unit : 1);
	else
		*value = !json_is_false(json);
	return json_is_integer(json) || json_is_boolean(json) || json_is_string(json);
}

static void print_sample(const struct group *group, const struct metric *metric, json_t *object,
			 FILE *out)
{
	double value;

	if (!value_of(metric, object, &value))
		return;
	fprintf(out, "warmverbs_%s", metric->name);
	print_labels(group, object, out);
	fprintf(out, " %.15g\n", value);
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

static int print_groups(json_t *status, bool detailed, FILE *out)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(groups); i++)
		for (unsigned int j = 0; j < groups[i].n_metrics; j++)
			if (detailed || !groups[i].is_detail)
				print_metric(&groups[i], &groups[i].metrics[j], status, out);
	return 0;
}

int wv_print_metrics(json_t *status, FILE *out)
{
	return print_groups(status, false, out);
}

int wv_print_detailed_metrics(json_t *status, FILE *out)
{
	return print_groups(status, true, out);
}
