/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/explain.h"

#include "base/base.h"
#include "cli/arguments.h"
#include "cli/complain.h"
#include "cli/launch.h"
#include "cli/report_json.h"
#include "cli/report_text.h"
#include "cli/trace_file.h"
#include "store/json_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

struct explain {
	struct wv_launch launch;
	bool json;
	const char *output; /* NULL: stderr */
};

static const struct argp_option options[] = {
    WV_JSON_OPTION,
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

/* The file has a name because the program opens it by that name. */
static int make_trace(char *path, size_t capacity)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	if ((size_t)snprintf(path, capacity, "%s/warmverbs-XXXXXX",
			     folder && *folder == '/' ? folder : "/tmp") >= capacity)
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Waits for the program with @signals blocked. The terminal sends its signals to both processes,
 * and the program decides what they do; SIGTERM, sent to this process alone, is passed on.
 */
static int await(pid_t child, const sigset_t *signals)
{
	int status = 0;
	pid_t ended;

	do {
		if (sigwaitinfo(signals, NULL) == SIGTERM)
			kill(child, SIGTERM);
		ended = waitpid(child, &status, WNOHANG);
	} while (!ended);
	if (ended < 0)
		return WV_EXIT_NOT_STARTED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void block_signals(sigset_t *signals, sigset_t *before)
{
	static const int blocked[] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP};

	sigemptyset(signals);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(blocked); i++)
		sigaddset(signals, blocked[i]);
	sigprocmask(SIG_BLOCK, signals, before);
	/* A process that ignores SIGCHLD is not told that a child ended. */
	signal(SIGCHLD, SIG_DFL);
}

static int run_traced(const struct wv_launch *launch, const char *trace)
{
	sigset_t signals, before;
	pid_t child = -1;

	block_signals(&signals, &before);
	if (setenv(WV_TRACE_ENV, trace, 1) || (child = fork()) < 0) {
		wv_complain("see 'ulimit -a' for limits of processes and memory",
			    "cannot start %s: %s", launch->program[0], strerror(errno));
		return WV_EXIT_NOT_STARTED;
	}
	if (child)
		return await(child, &signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	_exit(wv_launch_exec(launch));
}

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

/* Reads what wv_launch_prepare() or the caller put into the environment. */
static bool lease_wanted(void)
{
	const char *lease = getenv("WARMVERBS_LEASE");

	return !lease || strcmp(lease, "0");
}

static int report(const struct explain *e, int trace, FILE *out)
{
	wv_auto_free struct wv_trace *records = NULL;
	struct wv_run run = {.lease_wanted = lease_wanted()};
	int err = wv_trace_read(trace, &records, &run.n);

	run.records = records;
	if (!err)
		err = e->json ? write_json(&run, out) : wv_report_text(&run, out);
	if (!err && fflush(out))
		err = -errno;
	return err;
}

/* Detects every error before the program runs. */
static int prepare(struct explain *e, char *path, size_t capacity, int *trace, FILE **out)
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
	*trace = make_trace(path, capacity);
	if (*trace < 0) {
		wv_complain("set TMPDIR to a folder in which you may create files",
			    "cannot create the trace file %s: %s", path, strerror(-*trace));
		return WV_EXIT_NOT_STARTED;
	}
	return 0;
}

static int explain(int argc, char **argv)
{
	struct explain e = {.launch.lease = true};
	char path[PATH_MAX];
	wv_auto_fd trace = -1;
	FILE *out;
	int code, err;

	wv_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &e);
	code = prepare(&e, path, sizeof(path), &trace, &out);
	if (code)
		return code;
	code = run_traced(&e.launch, path);
	unlink(path);
	err = report(&e, trace, out);
	if (err)
		wv_complain(err == -EPROTO ? "the library and this command are of different "
					     "versions: install both from one build"
					   : NULL,
			    "the report is not complete: %s", strerror(-err));
	return code;
}

const struct wv_subcommand wv_cli_explain = {
    .name = "explain",
    .summary = "run a program and report what its lease answered",
    .usage_exit = WV_EXIT_NOT_STARTED,
    .main = explain,
};
