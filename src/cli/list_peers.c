/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/list_peers.h"

#include "cli/arguments.h"
#include "cli/ask.h"
#include "cli/peers_text.h"

#include <stdbool.h>

struct peers {
	bool json;
	const char *socket;
};

static const struct argp_option options[] = {WV_JSON_OPTION, WV_SOCKET_OPTION, {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct peers *peers = state->input;

	switch (key) {
	case WV_OPTION_JSON:
		peers->json = true;
		return 0;
	case WV_OPTION_SOCKET:
		peers->socket = arg;
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
    .doc = "List the daemons of other nodes that this node's daemon is connected to.\v"
	   "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no daemon answers.",
};

static int main_of_peers(int argc, char **argv)
{
	struct peers peers = {0};
	struct wv_answer answer;
	int code;

	wv_arguments_parse(&argp, argc, argv, 0, &peers);
	code = wv_ask(peers.socket, json_pack("{s:s}", "op", "peers"), &answer);
	if (!code)
		code = wv_answer_print(&answer, peers.json ? NULL : wv_print_peers);
	wv_answer_finish(&answer);
	return code;
}

const struct wv_subcommand wv_cli_peers = {
    .name = "peers",
    .summary = "list the nodes that the daemon is connected to",
    .usage_exit = WV_EXIT_USAGE,
    .main = main_of_peers,
};
