/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/run.h"

#include "cli/arguments.h"
#include "cli/launch.h"

static const struct argp_child children[] = {{&wv_launch_argp, 0, NULL, 0}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp argp = {
    .parser = parse,
    .children = children,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc = "Run PROGRAM under warmverbs, in this process.\v"
	   "Exit status: that of PROGRAM; 125 if warmverbs cannot start PROGRAM, 126 if PROGRAM "
	   "cannot be executed, 127 if it is not found.",
};

static int run(int argc, char **argv)
{
	struct wv_launch launch = {.lease = true};
	int err;

	wv_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &launch);
	err = wv_launch_prepare(&launch);
	return err ? err : wv_launch_exec(&launch);
}

const struct wv_subcommand wv_cli_run = {
    .name = "run",
    .summary = "run a program under warmverbs",
    .usage_exit = WV_EXIT_NOT_STARTED,
    .main = run,
};
