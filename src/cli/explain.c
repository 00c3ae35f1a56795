/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/explain.h"

#include "base/base.h"
#include "cli/arguments.h"
#include "cli/complain.h"
#include "cli/launch.h"
#include "cli/report_json.h"
#include "cli/report_text.h"
#include "cli/supervise.h"
#include "cli/traced_run.h"
#include "store/json_memory.h"

#include <errno.h>
#include <string.h>

struct explain {
	struct wv_launch launch;
	bool json;
	const char *output; /* NULL: stderr */
};

static const struct argp_option options[] = {
    {"json", WV_OPTION_JSON, NULL, 0, "Print JSON", 0},
    {"output", WV_OPTION_OUTPUT, "FILE", 0, "Write the report to FILE (default: stderr)", 0},
    {0},
};

static const struct argp_child children[] = {{&wv_launch_argp, 0, NULL, 0}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explain *e = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &e->launch;
		return 0;
	case WV_OPTION_JSON:
		e->json = true;
		return 0;
	case WV_OPTION_OUTPUT:
		e->output = arg;
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
    .doc = "Run PROGRAM under warmverbs. Report for each command of its control path whether a "
	   "lease or the kernel answered, why, and how long the command took.\v"
	   "Exit status: that of PROGRAM, or 128 + N if signal N ended it; 125 if warmverbs cannot "
	   "start PROGRAM, 126 if PROGRAM cannot be executed, 127 if it is not found.",
};

static int write_json(const struct wv_run *run, FILE *out)
{
	json_t *report;
	int err;

	wv_json_begin();
	report = wv_report_json(run);
	err = wv_json_was_short() ? -1 : json_dumpf(report, out, JSON_INDENT(2));
	json_decref(report);
	fputc('\n', out);
	return err ? -ENOMEM : 0;
}

/* Detects every error before the program runs. */
static int prepare(struct explain *e, struct wv_traced_run *run, FILE **out)
{
	int code = wv_launch_prepare(&e->launch);

	if (code)
		return code;
	*out = e->output ? fopen(e->output, "we") : stderr;
	if (!*out) {
		wv_complain("choose another FILE for --output", "cannot write to %s: %s", e->output,
			    strerror(errno));
		return WV_EXIT_NOT_STARTED;
	}
	return wv_traced_run_prepare(run);
}

static int explain(int argc, char **argv)
{
	struct explain e = {.launch.lease = true};
	struct wv_traced_run run;
	FILE *out;
	int code;

	wv_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &e);
	code = prepare(&e, &run, &out);
	if (code)
		return code;
	code = wv_traced_run(&run, &e.launch);
	if (code)
		return code;
	wv_traced_run_report(&run, e.json ? write_json : wv_report_text, out);
	return wv_supervise_exit_code(run.status);
}

const struct wv_subcommand wv_cli_explain = {
    .name = "explain",
    .summary = "run a program and report what its lease answered",
    .usage_exit = WV_EXIT_NOT_STARTED,
    .main = explain,
};
