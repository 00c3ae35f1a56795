#include "cli/explain.h"

#include "base/base.h"
#include "cli/complain.h"
#include "cli/launch.h"
#include "cli/report_json.h"
#include "cli/report_text.h"
#include "cli/trace_file.h"

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
    .doc = "Run PROGRAM under warmverbs and tell, command by command, what was answered from "
	   "a lease, what was not, why, and how long it took.\v"
	   "Ends as PROGRAM does, with 128 + N if signal N ended it; with 125 if warmverbs "
	   "cannot start it, 126 if it cannot be run, 127 if it is not found.",
};

/* A nameless file would do for us, but the program is to open it by its name. */
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
 * Waits for the program with @signals blocked. What the terminal sends goes to both, and the
 * program decides; what ends this process alone is passed on.
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
	/* Who ignores it learns of no child's end. */
	signal(SIGCHLD, SIG_DFL);
}

static int run_traced(const struct wv_launch *launch, const char *trace)
{
	sigset_t signals, before;
	pid_t child = -1;

	block_signals(&signals, &before);
	if (setenv(WV_TRACE_ENV, trace, 1) || (child = fork()) < 0) {
		wv_complain(NULL, "cannot start %s: %s", launch->program[0], strerror(errno));
		return WV_EXIT_NOT_STARTED;
	}
	if (child)
		return await(child, &signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	_exit(wv_launch_exec(launch));
}

static int write_json(const struct wv_run *run, FILE *out)
{
	json_t *report = wv_report_json(run);
	int err = report ? json_dumpf(report, out, JSON_INDENT(2)) : -1;

	json_decref(report);
	fputc('\n', out);
	return err ? -ENOMEM : 0;
}

/* As the program was told, by this command line or by its environment. */
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

/* Everything that can be wrong is found before the program runs. */
static int prepare(struct explain *e, char *path, size_t capacity, int *trace, FILE **out)
{
	int code = wv_launch_prepare(&e->launch);

	if (code)
		return code;
	*out = e->output ? fopen(e->output, "we") : stderr;
	if (!*out) {
		wv_complain(NULL, "cannot write to %s: %s", e->output, strerror(errno));
		return WV_EXIT_NOT_STARTED;
	}
	*trace = make_trace(path, capacity);
	if (*trace < 0) {
		wv_complain("set TMPDIR to a folder that you may write to",
			    "cannot make a trace file at %s: %s", path, strerror(-*trace));
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

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &e);
	code = prepare(&e, path, sizeof(path), &trace, &out);
	if (code)
		return code;
	code = run_traced(&e.launch, path);
	unlink(path);
	err = report(&e, trace, out);
	if (err)
		wv_complain(NULL, "the report is not complete: %s", strerror(-err));
	return code;
}

const struct wv_subcommand wv_cli_explain = {
    .name = "explain",
    .summary = "run a program and tell what was served, and why not",
    .usage_exit = WV_EXIT_NOT_STARTED,
    .main = explain,
};
