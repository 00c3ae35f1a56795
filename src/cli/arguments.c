/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/arguments.h"

#include "cli/complain.h"
#include "cli/subcommand.h"

#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {
    {"json", WV_OPTION_JSON, NULL, 0, "Print JSON", 0},
    WV_SOCKET_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct wv_asking *asking = state->input;

	switch (key) {
	case WV_OPTION_JSON:
		asking->json = true;
		return 0;
	case WV_OPTION_SOCKET:
		asking->socket = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp_of_asking = {.options = options, .parser = parse};
const struct argp_child wv_asking_argp[] = {{&argp_of_asking, 0, NULL, 0}, {0}};

void wv_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			void *input)
{
	int err = argp_parse(argp, argc, argv, flags, NULL, input);

	if (!err)
		return;
	wv_complain(NULL, "the arguments cannot be read: %s", strerror(err));
	exit(argp_err_exit_status == WV_EXIT_USAGE ? WV_EXIT_FAILED : argp_err_exit_status);
}
