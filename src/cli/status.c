/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/status.h"

#include "cli/arguments.h"
#include "cli/ask.h"
#include "cli/metrics.h"
#include "cli/status_text.h"

#include <stdbool.h>

struct status {
	bool json, prometheus, details;
	const char *socket;
};

static const struct argp_option options[] = {
    WV_JSON_OPTION,
    {"prometheus", WV_OPTION_PROMETHEUS, NULL, 0, "Print metrics in the text format of Prometheus",
     0},
    {"details", WV_OPTION_DETAILS, NULL, 0, "With --prometheus: of each user and recipe, too", 0},
    WV_SOCKET_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct status *status = state->input;

	switch (key) {
	case WV_OPTION_JSON:
		status->json = true;
		return 0;
	case WV_OPTION_DETAILS:
		status->details = true;
		return 0;
	case WV_OPTION_PROMETHEUS:
		status->prometheus = true;
		return 0;
	case WV_OPTION_SOCKET:
		status->socket = arg;
		return 0;
	case ARGP_KEY_END:
		if (status->json && status->prometheus)
			argp_error(state, "--json and --prometheus exclude each other");
		if (status->details && !status->prometheus)
			argp_error(state, "--details needs --prometheus");
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Print the daemon's devices, users, pools of leases, and how well the leases fit.\v"
	   "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no daemon answers.",
};

typedef int (*print_fn)(json_t *document, FILE *out);

/* NULL: the daemon's text is printed as it is. */
static print_fn printer(const struct status *status)
{
	if (status->json)
		return NULL;
	if (status->prometheus)
		return status->details ? wv_print_detailed_metrics : wv_print_metrics;
	return wv_print_status;
}

static int main_of_status(int argc, char **argv)
{
	struct status status = {0};
	struct wv_answer answer;
	int code;

	wv_arguments_parse(&argp, argc, argv, 0, &status);
	code = wv_ask(status.socket, json_pack("{s:s}", "op", "status"), &answer);
	if (!code)
		code = wv_answer_print(&answer, printer(&status));
	wv_answer_finish(&answer);
	return code;
}

const struct wv_subcommand wv_cli_status = {
    .name = "status",
    .summary = "print what the daemon has prepared, and how well it fits",
    .usage_exit = WV_EXIT_USAGE,
    .main = main_of_status,
};
