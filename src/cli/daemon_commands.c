/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/daemon_commands.h"

#include "cli/answer_text.h"
#include "cli/ask.h"
#include "cli/complain.h"
#include "cli/metrics.h"

#include <unistd.h>

#define EXIT_STATUS "\vExit status: 0 done, 1 failed, 2 wrong usage, 3 no daemon answers."

static const struct argp_option status_options[] = {
    WV_JSON_OPTION,
    WV_SOCKET_OPTION,
    {"prometheus", WV_OPTION(prometheus), NULL, 0, "Print metrics in the text format of Prometheus",
     0},
    {"details", WV_OPTION(details), NULL, 0, "With --prometheus: of each user and recipe, too", 0},
    {0},
};

static const char *object_to_status(const struct wv_arguments *a)
{
	if (a->json && a->prometheus)
		return "--json and --prometheus exclude each other";
	return a->details && !a->prometheus ? "--details needs --prometheus" : NULL;
}

/* NULL: the daemon's text is printed as it is. */
static wv_answer_print_fn printer(const struct wv_arguments *a)
{
	if (a->json)
		return NULL;
	if (a->prometheus)
		return a->details ? wv_print_detailed_metrics : wv_print_metrics;
	return wv_print_status;
}

/* The metrics are of peers, too; both answers are objects, and have no name in common. */
static int add_peers(const char *socket, const struct wv_answer *answer)
{
	struct wv_answer peers;
	int code = wv_ask(socket, json_pack("{s:s}", "op", "peers"), &peers);

	if (!code)
		json_object_update_missing(answer->document, peers.document);
	wv_answer_finish(&peers);
	return code;
}

/* The daemon takes only who comes by that socket for the administrator. */
static void note_missing(const struct wv_answer *answer)
{
	if (!geteuid() && json_is_null(json_object_get(answer->document, "totals")))
		wv_complain("ask outside containers; why there is no such socket: the daemon's log",
			    "only what belongs to root is shown: the administrator's socket of the "
			    "daemon cannot be reached (FILES in warmverbsd(8))");
}

static int status(const struct wv_arguments *a)
{
	struct wv_answer answer;
	int code = wv_ask(a->socket, json_pack("{s:s}", "op", "status"), &answer);

	if (!code && a->prometheus)
		code = add_peers(a->socket, &answer);
	if (!code)
		code = wv_answer_print(&answer, printer(a));
	if (!code && !a->json)
		note_missing(&answer);
	wv_answer_finish(&answer);
	return code;
}

const struct wv_subcommand wv_cli_status = {
    .name = "status",
    .summary = "print what the daemon has prepared, and how well it fits",
    .options = status_options,
    .help = "Print the daemon's devices, users, pools of leases, and how well the leases "
	    "fit." EXIT_STATUS,
    .objection = object_to_status,
    .main = status,
};

static const struct argp_option options[] = {WV_JSON_OPTION, WV_SOCKET_OPTION, {0}};

static int ask(const struct wv_arguments *a, const char *op, wv_answer_print_fn print)
{
	struct wv_answer answer;
	int code = wv_ask(a->socket, json_pack("{s:s, s:s*}", "op", op, "id", a->operand), &answer);

	if (!code)
		code = wv_answer_print(&answer, a->json ? NULL : print);
	wv_answer_finish(&answer);
	return code;
}

static int list_recipes(const struct wv_arguments *a)
{
	return ask(a, "status", wv_print_recipes);
}

static int show_recipe(const struct wv_arguments *a)
{
	return ask(a, "recipe", wv_print_recipe);
}

static int forget_recipes(const struct wv_arguments *a)
{
	return ask(a, "forget", wv_print_forgotten);
}

#define RECIPE_ID "an ID from 'warmverbs recipes list'"

static const struct wv_action recipe_actions[] = {
    {"list", NULL, list_recipes},
    {"show", RECIPE_ID, show_recipe},
    {"forget", RECIPE_ID, forget_recipes},
    {0},
};

const struct wv_subcommand wv_cli_recipes = {
    .name = "recipes",
    .summary = "list, show or forget recipes",
    .options = options,
    .arguments = "list\nshow ID\nforget ID|all",
    .help = "List the daemon's recipes, show the steps of one, or make the daemon forget one or "
	    "all." EXIT_STATUS,
    .actions = recipe_actions,
    .action_names = "list, show or forget",
};

static int list_peers(const struct wv_arguments *a)
{
	return ask(a, "peers", wv_print_peers);
}

const struct wv_subcommand wv_cli_peers = {
    .name = "peers",
    .summary = "list the nodes that the daemon is connected to",
    .options = options,
    .help = "List the daemons of other nodes that this node's daemon is connected to." EXIT_STATUS,
    .main = list_peers,
};
