/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/run.h"

#include "base/base.h"
#include "cli/arguments.h"
#include "cli/launch.h"
#include "cli/summary_line.h"
#include "cli/supervise.h"
#include "cli/traced_run.h"

struct run {
	struct wv_launch launch;
	bool summary;
};

static const struct argp_option options[] = {
    {"summary", WV_OPTION_SUMMARY, NULL, 0,
     "At the end, print a line to stderr: how much was done ahead, or why nothing was", 0},
    {0},
};

static const struct argp_child children[] = {{&wv_launch_argp, 0, NULL, 0}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &run->launch;
		return 0;
	case WV_OPTION_SUMMARY:
		run->summary = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc = "Run PROGRAM under warmverbs, in this process.\v"
	   "Exit status: that of PROGRAM; 125 if warmverbs cannot start PROGRAM, 126 if PROGRAM "
	   "cannot be executed, 127 if it is not found.",
};

/* A program that could not be executed has no summary: the user was told why. */
static bool was_not_executed(const struct wv_traced_run *run)
{
	int code = wv_supervise_exit_code(run->status);

	return (code == WV_EXIT_NOT_RUNNABLE || code == WV_EXIT_NOT_FOUND) &&
	       !lseek(run->trace, 0, SEEK_END);
}

static int run_with_summary(const struct wv_launch *launch)
{
	struct wv_traced_run run;
	int code = wv_traced_run_prepare(&run);

	if (!code)
		code = wv_traced_run(&run, launch);
	if (code)
		return code;
	if (!was_not_executed(&run))
		wv_traced_run_report(&run, wv_summary_line, stderr);
	return wv_supervise_end_alike(run.status);
}

static int main_of_run(int argc, char **argv)
{
	struct run run = {.launch.lease = true};
	int err;

	wv_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &run);
	err = wv_launch_prepare(&run.launch);
	if (err)
		return err;
	return run.summary ? run_with_summary(&run.launch) : wv_launch_exec(&run.launch);
}

const struct wv_subcommand wv_cli_run = {
    .name = "run",
    .summary = "run a program under warmverbs",
    .usage_exit = WV_EXIT_NOT_STARTED,
    .main = main_of_run,
};
