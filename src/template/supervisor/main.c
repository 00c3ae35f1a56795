/* SPDX-License-Identifier: BSD-2-Clause */
/* warmverbs-template: keeps a program ready to start. */
#include "template/supervisor/supervisor.h"

#include "base/base.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READY	  64
#define IDLE_S	  300
#define MEMORY_MB 256
#define MOST_IDLE (365 * 24 * 3600)
#define MOST_MB	  (1024 * 1024)

enum { EXIT_USAGE = 2 };
enum { NAMED = 256 };

#define HELP                                                                                       \
	"Keep PROGRAM ready to start: it runs once, up to its stop point, and then waits in "      \
	"processes that warmverbs-start(1) turns into what exec would have made.\v"                \
	"Exit status: 0 after the template has ended and all that started from it; 1 if PROGRAM "  \
	"cannot be a template, 2 for wrong usage."

static const struct argp_option options[] = {
    {"socket", 's', "PATH", 0, "Where clients connect", 0},
    {"at", 'a', "WHERE", 0,
     "Stop before \"main\" (the default), or at a \"point\": where PROGRAM calls "
     "wv_template_point()",
     0},
    {"ready", 'n', "N", 0, "At most N children wait (default: 64)", 0},
    {"memory", 'm', "MB", 0,
     "Children that wait have at most so much memory for themselves, but one waits in any "
     "case (default: 256)",
     0},
    {"setenv", 'e', "VARIABLE", 0, "Set VARIABLE, a NAME=VALUE, for PROGRAM only", 0},
    {"named", NAMED, NULL, OPTION_HIDDEN, NULL, 0}, /* warmverbs-start has started this process */
    {"idle", 'i', "SECONDS", 0,
     "End after so long without a start, or if PROGRAM takes so long to stop (default: 300)", 0},
    {0},
};

static error_t add_variable(struct wv_supervisor_options *o, char *variable,
			    struct argp_state *state)
{
	struct wv_template_program *p = &o->program;

	if (!strchr(variable, '='))
		argp_error(state, "%s is not NAME=VALUE", variable);
	p->variables = reallocarray(p->variables, p->n_variables + 1, sizeof(*p->variables));
	if (!p->variables)
		return ENOMEM;
	p->variables[p->n_variables++] = variable;
	return 0;
}

static uint32_t number(const char *text, uint32_t most, struct argp_state *state)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !n || n > most)
		argp_error(state, "%s is not a number from 1 to %u", text, most);
	return (uint32_t)n;
}

static error_t parse_rest(int key, struct wv_supervisor_options *o, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_ARGS:
		o->program.argv = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if (!o->socket)
			argp_error(state, "--socket is missing");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct wv_supervisor_options *o = state->input;

	switch (key) {
	case 's':
		o->socket = argument;
		return 0;
	case 'a':
		if (strcmp(argument, "main") != 0 && strcmp(argument, "point") != 0)
			argp_error(state, "a program stops at main or at point, not at %s",
				   argument);
		o->program.at = argument;
		return 0;
	case 'e':
		return add_variable(o, argument, state);
	case NAMED:
		o->is_named = true;
		return 0;
	case 'n':
		o->most_ready = number(argument, WV_READY_MOST, state);
		return 0;
	case 'm':
		o->memory = (uint64_t)number(argument, MOST_MB, state) << 20;
		return 0;
	case 'i':
		o->idle_s = number(argument, MOST_IDLE, state);
		return 0;
	default:
		return parse_rest(key, o, state);
	}
}

WV_PUBLIC const char *argp_program_version = "warmverbs-template " WV_VERSION;

int main(int argc, char **argv)
{
	static const struct argp argp = {
	    options, parse, "--socket PATH [--] PROGRAM [ARGUMENT...]", HELP, NULL, NULL, NULL};
	struct wv_supervisor_options o = {.program = {.at = "main"},
					  .most_ready = READY,
					  .memory = (uint64_t)MEMORY_MB << 20,
					  .idle_s = IDLE_S};
	struct wv_reason_text why = {""};
	int err;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	closefrom(STDERR_FILENO + 1); /* what this process has inherited is not the program's */
	signal(SIGCHLD, SIG_DFL);
	umask(077);
	err = wv_supervise_template(&o, &why);
	free(o.program.variables);
	if (!err)
		return EXIT_SUCCESS;
	fprintf(stderr, "warmverbs-template: there is no template of %s: %s\n", o.program.argv[0],
		why.text);
	return EXIT_FAILURE;
}
