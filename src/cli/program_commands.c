/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/program_commands.h"

#include "base/end_alike.h"
#include "cli/complain.h"
#include "cli/fields.h"
#include "cli/launch.h"
#include "cli/report.h"
#include "cli/supervise.h"
#include "cli/traced_run.h"
#include "store/json_memory.h"

#include <errno.h>
#include <string.h>

#define NO_LEASE_OPTION                                                                            \
	{                                                                                          \
		"no-lease", WV_OPTION(no_lease), NULL, 0,                                          \
		    "Load only the providers that the node needs, and take no lease", 0            \
	}
#define NAME_OPTION                                                                                \
	{                                                                                          \
		"name", WV_OPTION(name), "NAME", 0,                                                \
		    "Keep the recipes of this use of the program apart from those of other uses",  \
		    0                                                                              \
	}

static const struct argp_option run_options[] = {
    NO_LEASE_OPTION,
    NAME_OPTION,
    WV_SOCKET_OPTION,
    {"summary", WV_OPTION(summary), NULL, 0,
     "At the end, print a line to stderr: how much was done ahead, or why nothing was", 0},
    {"template", WV_OPTION(template), NULL, 0,
     "Start PROGRAM from its template, and make one for the next starts: warmverbs-start(1)", 0},
    {0},
};

/* A program that could not be executed has no summary: the user was told why. */
static int print_summary(const struct wv_run *run, FILE *out)
{
	if (!run->n &&
	    (run->exit_code == WV_EXIT_NOT_RUNNABLE || run->exit_code == WV_EXIT_NOT_FOUND))
		return 0;
	return wv_report_line(run, out);
}

static int run(const struct wv_arguments *a)
{
	int code = wv_launch_prepare(a), status;
	char **command = a->program;

	if (code)
		return code;
	if (a->template)
		command = wv_launch_from_template(a->program);
	if (!command)
		return WV_EXIT_NOT_STARTED;
	if (!a->summary)
		return wv_launch_exec(command);
	code = wv_traced_run(command, print_summary, stderr, &status);
	return code ? code : wv_end_alike(status);
}

const struct wv_subcommand wv_cli_run = {
    .name = "run",
    .summary = "run a program under warmverbs",
    .options = run_options,
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .help = "Run PROGRAM under warmverbs, in this process.\v"
	    "Exit status: that of PROGRAM; 125 if warmverbs cannot start PROGRAM, 126 if PROGRAM "
	    "cannot be executed, 127 if it is not found.",
    .runs_program = true,
    .main = run,
};

static const struct argp_option explain_options[] = {
    NO_LEASE_OPTION,
    NAME_OPTION,
    WV_SOCKET_OPTION,
    WV_JSON_OPTION,
    {"output", WV_OPTION(output), "FILE", 0, "Write the report to FILE (default: stderr)", 0},
    {0},
};

static int write_json(const struct wv_run *run, FILE *out)
{
	wv_json_begin();
	return wv_print_json(wv_report_json(run), out);
}

/* Detects every error before the program runs. */
static int explain(const struct wv_arguments *a)
{
	int code = wv_launch_prepare(a), status;
	FILE *out;

	if (code)
		return code;
	out = a->output ? fopen(a->output, "we") : stderr;
	if (!out) {
		wv_complain("choose another FILE for --output", "cannot write to %s: %s", a->output,
			    strerror(errno));
		return WV_EXIT_NOT_STARTED;
	}
	code = wv_traced_run(a->program, a->json ? write_json : wv_report_text, out, &status);
	return code ? code : wv_exit_code(status);
}

const struct wv_subcommand wv_cli_explain = {
    .name = "explain",
    .summary = "run a program and report what its lease answered",
    .options = explain_options,
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .help = "Run PROGRAM under warmverbs. Report for each command of its control path whether a "
	    "lease or the kernel answered, why, and how long the command took.\v"
	    "Exit status: that of PROGRAM, or 128 + N if signal N ended it; 125 if warmverbs "
	    "cannot start PROGRAM, 126 if PROGRAM cannot be executed, 127 if it is not found.",
    .runs_program = true,
    .main = explain,
};
