/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/status.h"

#include "cli/arguments.h"
#include "cli/ask.h"
#include "cli/complain.h"
#include "cli/metrics.h"
#include "cli/status_text.h"

#include <stdbool.h>
#include <unistd.h>

struct status {
	struct wv_asking asking;
	bool prometheus, details;
};

static const struct argp_option options[] = {
    {"prometheus", WV_OPTION_PROMETHEUS, NULL, 0, "Print metrics in the text format of Prometheus",
     0},
    {"details", WV_OPTION_DETAILS, NULL, 0, "With --prometheus: of each user and recipe, too", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct status *status = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &status->asking;
		return 0;
	case WV_OPTION_DETAILS:
		status->details = true;
		return 0;
	case WV_OPTION_PROMETHEUS:
		status->prometheus = true;
		return 0;
	case ARGP_KEY_END:
		if (status->asking.json && status->prometheus)
			argp_error(state, "--json and --prometheus exclude each other");
		if (status->details && !status->prometheus)
			argp_error(state, "--details needs --prometheus");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = wv_asking_argp,
    .doc = "Print the daemon's devices, users, pools of leases, and how well the leases fit.\v"
	   "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no daemon answers.",
};

typedef int (*print_fn)(json_t *document, FILE *out);

/* NULL: the daemon's text is printed as it is. */
static print_fn printer(const struct status *status)
{
	if (status->asking.json)
		return NULL;
	if (status->prometheus)
		return status->details ? wv_print_detailed_metrics : wv_print_metrics;
	return wv_print_status;
}

/* The metrics are of peers, too; both answers are objects, and have no name in common. */
static int add_peers(const struct status *status, const struct wv_answer *answer)
{
	struct wv_answer peers;
	int code = wv_ask(status->asking.socket, json_pack("{s:s}", "op", "peers"), &peers);

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

static int main_of_status(int argc, char **argv)
{
	struct status status = {0};
	struct wv_answer answer;
	int code;

	wv_arguments_parse(&argp, argc, argv, 0, &status);
	code = wv_ask(status.asking.socket, json_pack("{s:s}", "op", "status"), &answer);
	if (!code && status.prometheus)
		code = add_peers(&status, &answer);
	if (!code)
		code = wv_answer_print(&answer, printer(&status));
	if (!code && !status.asking.json)
		note_missing(&answer);
	wv_answer_finish(&answer);
	return code;
}

const struct wv_subcommand wv_cli_status = {
    .name = "status",
    .summary = "print what the daemon has prepared, and how well it fits",
    .usage_exit = WV_EXIT_USAGE,
    .main = main_of_status,
};
