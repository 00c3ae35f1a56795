/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warmverbs-start: starts a program from its template, or executes it. A program of its own, and
 * static, because its own start is a part of every start.
 */
#include "base/base.h"
#include "base/end_alike.h"
#include "base/program_path.h"
#include "template/client/follow.h"
#include "template/client/named.h"
#include "template/client/own_state.h"
#include "template/note.h"
#include "template/signals.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>

/* Longer than a fork takes on a busy machine. */
#define ANSWER_MS 1000

enum { EXIT_USAGE = 2, EXIT_UNKNOWN = 125, EXIT_NOT_RUNNABLE, EXIT_NOT_FOUND };

/* As execvp(3), but in folders of PATH as other C libraries search them if it is not set. */
static int execute(char **program)
{
	char path[PATH_MAX];

	if (!wv_program_find(program[0], getenv("PATH"), path, sizeof(path)))
		execv(path, program);
	execvp(program[0], program);
	int err = errno;

	fprintf(stderr, "warmverbs-start: cannot execute %s: %s\n", program[0], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

static void explain(const char *why)
{
	const char *verbose = getenv("WARMVERBS_VERBOSE");

	if (verbose && *verbose && strcmp(verbose, "0") != 0)
		fprintf(stderr, "warmverbs-start: the program is executed: %s\n", why);
}

/* The template that @named has, or one for later starts. */
static int ask_named(struct wv_template_start *client, const struct wv_template_request *request)
{
	struct wv_reason_text why = {""};
	struct wv_named named;
	int err = wv_named_find(request->path, &named), failed;

	if (err)
		return err;
	err = -wv_template_start(named.socket, request, client);
	if (err != -ENOENT && err != -ECONNREFUSED)
		return err;
	wv_because(&why, "its template is being made");
	failed = wv_note_forbids(named.socket, &why) ? 0 : wv_named_start(&named, request->path);
	wv_copy_string(client->why, sizeof(client->why), why.text);
	return failed ? failed : err;
}

/* Returns 0 if it goes on as a start. @mask: the signals that it blocks. */
static int ask(struct wv_template_start *client, const char *socket, char **argv,
	       const uint64_t *mask)
{
	char path[PATH_MAX];
	const struct wv_template_request request = {.path = path,
						    .argv = argv,
						    .envp = environ,
						    .timeout_ms = ANSWER_MS,
						    .mask = (const sigset_t *)mask};
	const char *obstacle = wv_own_state_obstacle();
	int err = wv_program_find(argv[0], getenv("PATH"), path, sizeof(path));

	*client->why = '\0';
	if (!err && obstacle)
		err = -ECANCELED;
	else if (!err)
		err = socket ? -wv_template_start(socket, &request, client)
			     : ask_named(client, &request);
	if (err)
		explain(obstacle ? obstacle : *client->why ? client->why : strerror(-err));
	return err;
}

static const char usage[] = "usage: warmverbs-start [--socket=PATH] [--] PROGRAM [ARGUMENT...]\n";
static const char help[] =
    "Starts PROGRAM from its template, or executes it if there is none that fits. The first start\n"
    "makes a template for the next ones, which ends when it has not been used for 5 minutes.\n"
    "\n"
    "  -s, --socket=PATH  the template of warmverbs-template(1) that listens there, and no other\n"
    "  -h, --help         print this\n"
    "  -V, --version      print the version\n"
    "\n"
    "Environment: WARMVERBS_VERBOSE=1 says why a program is executed; WARMVERBS_TEMPLATES names "
    "the\n"
    "folder of templates (default: $XDG_RUNTIME_DIR/warmverbs-templates).\n"
    "Exit status: that of PROGRAM; 125 if nobody can tell it, 126 if PROGRAM cannot be executed,\n"
    "127 if it is not found, 2 for wrong usage.\n";

/* Returns the index of the program, or the negative exit status of this one, less 1. */
static int read_options(int argc, char **argv, const char **socket)
{
	static const struct option options[] = {{"socket", required_argument, NULL, 's'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{0}};
	int letter;

	while ((letter = getopt_long(argc, argv, "+s:hV", options, NULL)) != -1)
		switch (letter) {
		case 's':
			*socket = optarg;
			break;
		case 'h':
			printf("%s%s", usage, help);
			return -EXIT_SUCCESS - 1;
		case 'V':
			printf("warmverbs-start " WV_VERSION "\n");
			return -EXIT_SUCCESS - 1;
		default:
			fputs(usage, stderr);
			return -EXIT_USAGE - 1;
		}
	if (optind < argc)
		return optind;
	fputs(usage, stderr);
	return -EXIT_USAGE - 1;
}

int main(int argc, char **argv)
{
	const char *socket = NULL;
	int program = read_options(argc, argv, &socket), signals, status;
	uint64_t mask = wv_signals_blocked();
	struct wv_template_start client;

	if (program < 0)
		return -program - 1;
	argv += program;
	wv_signals_block(WV_ALL_SIGNALS); /* none is lost between this process and the start */
	signals = wv_signals_fd(WV_ALL_SIGNALS);
	if (signals < 0 || ask(&client, socket, argv, &mask)) {
		wv_signals_block(mask);
		return execute(argv);
	}
	return wv_template_follow(&client, signals, &status) ? EXIT_UNKNOWN : wv_end_alike(status);
}
