/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base.h"
#include "cli/complain.h"
#include "cli/containers.h"
#include "cli/daemon_commands.h"
#include "cli/doctor.h"
#include "cli/program_commands.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct wv_subcommand *const subcommands[] = {
    &wv_cli_run,   &wv_cli_explain, &wv_cli_status,    &wv_cli_recipes,
    &wv_cli_peers, &wv_cli_doctor,  &wv_cli_container,
};

WV_PUBLIC const char *argp_program_version = "warmverbs " WV_VERSION;

static const struct wv_subcommand *find(const char *name)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i]->name, name))
			return subcommands[i];
	return NULL;
}

/* The subcommand, and the arguments from its name on. */
struct choice {
	const struct wv_subcommand *subcommand; /* NULL: help */
	int argc;
	char **argv;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		choice->subcommand = find(arg);
		if (!choice->subcommand && strcmp(arg, "help"))
			argp_error(state, "unknown command '%s'", arg);
		choice->argc = state->argc - state->next + 1;
		choice->argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *list_commands(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t bytes;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !(out = open_memstream(&list, &bytes)))
		return (char *)text;
	fputs("Commands:\n", out);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(subcommands); i++)
		fprintf(out, "  %-10s %s\n", subcommands[i]->name, subcommands[i]->summary);
	fprintf(out, "  %-10s %s\n", "help", "print the help of a command");
	fclose(out);
	return list;
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "COMMAND [ARGUMENT...]",
    .doc = "Run RDMA programs with verbs objects prepared ahead, and see how well that works.\v",
    .help_filter = list_commands,
};

/* Makes argp print the help, which ends the process. */
static int help(int argc, char **argv)
{
	const struct wv_subcommand *about = argc == 2 ? find(argv[1]) : NULL;
	char *ask[] = {(char *)"warmverbs", (char *)"--help", NULL};

	if (argc > 1 && !about) {
		wv_complain("'warmverbs --help' lists the commands", "unknown command '%s'",
			    argv[1]);
		return WV_EXIT_USAGE;
	}
	if (about)
		return wv_subcommand_run(about, 2, ask);
	wv_arguments_parse(&argp, 2, ask, 0, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct choice choice = {0};

	setlocale(LC_CTYPE, ""); /* for the width of names in tables */
	argp_err_exit_status = WV_EXIT_USAGE;
	wv_arguments_parse(&argp, argc, argv, ARGP_IN_ORDER, &choice);
	return choice.subcommand ? wv_subcommand_run(choice.subcommand, choice.argc, choice.argv)
				 : help(choice.argc, choice.argv);
}
