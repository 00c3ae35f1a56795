/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/metrics.h"

#include "base/base.h"
#include "cli/fields.h"

#include <stdbool.h>

#define MAX_LABELS 6

/* A sample for each object of the array at @path; without @path: for the document. */
struct group {
	const char *path;
	struct {
		const char *name, *path;
	} labels[MAX_LABELS]; /* the rest have no name */
	bool is_detail;	      /* many samples on a node with many users */
};

static const struct group build = {.labels = {{"version", "version"}, {"kernel", "kernel"}}};
static const struct group node;
static const struct group device = {
    .path = "devices",
    .labels = {{"device", "name"}, {"driver", "driver"}},
};
static const struct group peer_state = {
    .path = "peers",
    .labels = {{"node", "node"}, {"state", "state"}},
};
static const struct group peer = {
    .path = "peers",
    .labels = {{"node", "node"}, {"address", "address"}},
};
static const struct group user = {
    .path = "users",
    .labels = {{"uid", "uid"}},
    .is_detail = true,
};
static const struct group recipe = {
    .path = "recipes",
    .labels = {{"recipe", "id"},
	       {"uid", "uid"},
	       {"program", "comm"},
	       {"name", "key.name"},
	       {"device", "key.ibdev"},
	       {"open", "key.open_number"}},
    .is_detail = true,
};

/* A value of an object; one that the object lacks has no sample. A text has the value 1. */
static const struct metric {
	const struct group *of;
	const char *name; /* after "warmverbs_"; that of a counter ends in "_total" */
	const char *path;
	const char *help;
	double unit; /* of the value at @path, in the metric's base unit; 0: 1 */
} metrics[] = {
    {&build, "build_info", "version", "The daemon's version, and the kernel."},

    {&node, "uptime_seconds", "uptime_s", "Time since the daemon started."},
    {&node, "leases_held_limit", "budgets.leases", "How many leases the daemon may hold."},
    {&node, "memory_bytes", "use.memory", "Kernel memory of the leases that the daemon holds."},
    {&node, "memory_limit_bytes", "budgets.memory",
     "Kernel memory that leases may take while the daemon holds them."},
    {&node, "leases_held", "use.leases",
     "Leases that the daemon holds: ready, being made, or being closed."},
    {&node, "leases_out", "use.leases_out", "Leases that programs have."},
    {&node, "memory_out_bytes", "use.memory_out", "Kernel memory of leases that programs have."},
    {&node, "memory_out_limit_bytes", "budgets.memory_out",
     "Kernel memory that leases may take while programs have them."},
    {&node, "descriptors", "use.descriptors", "Descriptors of the leases that the daemon holds."},
    {&node, "clients", "clients.connected", "Programs that are connected."},
    {&node, "clients_accepted_total", "clients.accepted", "Connections of programs."},
    {&node, "clients_malformed_total", "clients.malformed",
     "Connections that were closed because of what they sent."},
    {&node, "clients_silent_total", "clients.silent",
     "Connections that were closed because they sent nothing."},
    {&node, "clients_over_limit_total", "clients.over_limit",
     "Connections that were refused because of a limit."},
    {&node, "clients_denied_total", "clients.denied",
     "Requests for a device that the program may not use."},
    {&node, "hits_total", "totals.hits", "Leases that programs got."},
    {&node, "misses_total", "totals.misses", "Requests for which no lease was ready."},
    {&node, "recordings_total", "totals.records", "Runs that were recorded."},
    {&node, "reports_total", "totals.reports", "Runs with a lease that reported."},
    {&node, "commands_adopted_total", "totals.adopted", "Commands that leases answered."},
    {&node, "commands_kernel_total", "totals.kernel", "Commands that no lease can answer."},
    {&node, "commands_diverged_total", "totals.diverged",
     "Commands that a lease could have answered, and did not."},
    {&node, "spares_total", "totals.spares", "Queue pairs that came from spares."},
    {&node, "pairs_ready", "pairs.ready", "Pairs that wait for a program."},
    {&node, "pairs_out", "pairs.handed_out", "Pairs that programs have."},
    {&node, "pair_edges", "pairs.edges", "Servers to which pairs are made, for each recipe."},
    {&node, "pair_servers", "pairs.servers", "Processes whose spares are in pairs."},
    {&node, "pairs_made_total", "pairs.made", "Pairs that were made."},
    {&node, "pairs_used_total", "pairs.used", "Pairs that programs used."},
    {&node, "pairs_idle_total", "pairs.idle", "Pairs that were given up unused."},
    {&node, "pairs_lost_total", "pairs.lost", "Pairs whose other end has gone."},
    {&node, "peer_connections", "connections", "Connections with other nodes, of any state."},
    {&node, "peer_strangers_total", "turned_away",
     "Connections that strangers tried and that were refused."},

    {&device, "device_leased", "leased", "1 if leases of the device are made, or 0."},
    {&device, "device_leases_ready", "leases", "Leases of the device that are ready."},

    {&peer_state, "peer_state", "state", "The state of the connection with the node."},

    {&peer, "peer_up_seconds", "up_s", "Time since the node was connected; 0: it is not."},
    {&peer, "peer_round_trip_seconds", "round_trip_us", "Time until the node answered last.", 1e-6},
    {&peer, "peer_edges", "counters.edges", "Servers of the node to which pairs are made."},
    {&peer, "peer_pairs", "counters.pairs", "Pairs with servers of the node."},
    {&peer, "peer_hits_total", "counters.hits", "Pairs with the node that programs used."},
    {&peer, "peer_mismatches_total", "counters.mismatches",
     "Pairs with the node that programs could not use."},

    {&user, "user_clients", "clients", "Programs of the user that are connected."},
    {&user, "user_recipes", "recipes", "Recipes of the user."},
    {&user, "user_leases_held", "use.leases", "Leases that the daemon holds for the user."},
    {&user, "user_memory_bytes", "use.memory", "Kernel memory of these leases."},
    {&user, "user_leases_out", "use.leases_out", "Leases that the user's programs have."},
    {&user, "user_memory_out_bytes", "use.memory_out",
     "Kernel memory of the leases that the user's programs have."},

    /*
     * Hits and warm reports are no counters: a lease that turns out unused is taken back from them.
     */
    {&recipe, "recipe_leases_ready", "pool.ready", "Leases that are ready."},
    {&recipe, "recipe_leases_wanted", "pool.target", "How many the daemon wants to have ready."},
    {&recipe, "recipe_leases_requested", "pool.requested", "How many running programs requested."},
    {&recipe, "recipe_build_seconds", "pool.build_us_median",
     "Median time in which a lease was made.", 1e-6},
    {&recipe, "recipe_build_failures", "pool.failures",
     "Leases that could not be made, since the last one that could."},
    {&recipe, "recipe_leases_built_total", "pool.built", "Leases that were made."},
    {&recipe, "recipe_hits", "counters.hits", "Leases that programs got."},
    {&recipe, "recipe_misses_total", "counters.misses", "Requests for which no lease was ready."},
    {&recipe, "recipe_recordings_total", "counters.records", "Runs that were recorded."},
    {&recipe, "recipe_reports_total", "counters.reports", "Runs with a lease that reported."},
    {&recipe, "recipe_reports_warm", "counters.warm", "Reports of runs that did not diverge."},
    {&recipe, "recipe_commands_adopted_total", "counters.adopted",
     "Commands that leases answered."},
    {&recipe, "recipe_commands_kernel_total", "counters.kernel",
     "Commands that no lease can answer."},
    {&recipe, "recipe_commands_diverged_total", "counters.diverged",
     "Commands that a lease could have answered, and did not."},
    {&recipe, "recipe_spares_total", "counters.spares", "Queue pairs that came from spares."},
};

static void print_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_label(const char *name, json_t *value, FILE *out)
{
	fprintf(out, "%s=\"", name);
	if (json_is_integer(value))
		fprintf(out, "%lld", (long long)json_integer_value(value));
	else
		print_escaped(json_string_value(value) ?: "", out);
	fputc('"', out);
}

static void print_labels(const struct group *group, json_t *object, FILE *out)
{
	unsigned int i;

	for (i = 0; i < MAX_LABELS && group->labels[i].name; i++) {
		fputc(i ? ',' : '{', out);
		print_label(group->labels[i].name, wv_json_at(object, group->labels[i].path), out);
	}
	if (i)
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

static void print_sample(const struct metric *metric, json_t *object, FILE *out)
{
	double value;

	if (!value_of(metric, object, &value))
		return;
	fprintf(out, "warmverbs_%s", metric->name);
	print_labels(metric->of, object, out);
	fprintf(out, " %.15g\n", value);
}

static bool is_counter(const struct metric *metric)
{
	const char *last = strrchr(metric->name, '_');

	return last && !strcmp(last, "_total");
}

static void print_metric(const struct metric *metric, json_t *status, FILE *out)
{
	json_t *object;
	size_t i;

	fprintf(out, "# HELP warmverbs_%s %s\n# TYPE warmverbs_%s %s\n", metric->name, metric->help,
		metric->name, is_counter(metric) ? "counter" : "gauge");
	if (!metric->of->path) {
		print_sample(metric, status, out);
		return;
	}
	json_array_foreach (json_object_get(status, metric->of->path), i, object)
		print_sample(metric, object, out);
}

static int print_all(json_t *status, bool detailed, FILE *out)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(metrics); i++)
		if (detailed || !metrics[i].of->is_detail)
			print_metric(&metrics[i], status, out);
	return 0;
}

int wv_print_metrics(json_t *status, FILE *out)
{
	return print_all(status, false, out);
}

int wv_print_detailed_metrics(json_t *status, FILE *out)
{
	return print_all(status, true, out);
}
