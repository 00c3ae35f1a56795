/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/list_peers.h"

#include "cli/arguments.h"
#include "cli/ask.h"
#include "cli/peers_text.h"

static const struct argp argp = {
    .children = wv_asking_argp,
    .doc = "List the daemons of other nodes that this node's daemon is connected to.\v"
	   "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no daemon answers.",
};

static int main_of_peers(int argc, char **argv)
{
	struct wv_asking asking = {0};

	wv_arguments_parse(&argp, argc, argv, 0, &asking);
	return wv_ask_and_print(asking.socket, json_pack("{s:s}", "op", "peers"),
				asking.json ? NULL : wv_print_peers);
}

const struct wv_subcommand wv_cli_peers = {
    .name = "peers",
    .summary = "list the nodes that the daemon is connected to",
    .usage_exit = WV_EXIT_USAGE,
    .main = main_of_peers,
};
