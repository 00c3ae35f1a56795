/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/subcommand.h"

#include "cli/complain.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES (sizeof(((struct wv_msg_request *)0)->name) - 1)

static const struct wv_action *find(const struct wv_action *action, const char *name)
{
	for (; action->name; action++)
		if (!strcmp(action->name, name))
			return action;
	return NULL;
}

static void take_argument(struct wv_arguments *a, char *word, struct argp_state *state)
{
	const struct wv_subcommand *s = a->subcommand;

	if (s->runs_program) {
		a->program = state->argv + state->next - 1;
		state->next = state->argc;
	} else if (s->actions && !a->action) {
		a->action = find(s->actions, word);
		if (!a->action)
			argp_error(state, "unknown action '%s': give %s", word, s->action_names);
	} else if (a->action && a->action->operand && !a->operand) {
		a->operand = word;
	} else {
		argp_error(state, "unexpected argument '%s'", word);
	}
}

/* Each option has a member of struct wv_arguments: a text if it takes one, or else a bool. */
static void take_option(struct wv_arguments *a, int key, const char *text, struct argp_state *state)
{
	void *member = (char *)a + (key - WV_OPTION(subcommand));

	if (key == WV_OPTION(name) && strlen(text) > NAME_MAX_BYTES)
		argp_error(state, "the name '%s' is longer than %zu bytes", text, NAME_MAX_BYTES);
	if (text)
		*(const char **)member = text;
	else
		*(bool *)member = true;
}

static void check(const struct wv_arguments *a, struct argp_state *state)
{
	const struct wv_subcommand *s = a->subcommand;
	const char *objection;

	if (s->runs_program && !a->program)
		argp_error(state, "name the program to run");
	else if (s->actions && !a->action)
		argp_usage(state);
	else if (a->action && a->action->operand && !a->operand)
		argp_error(state, "%s needs %s", a->action->name, a->action->operand);
	else if (s->objection && (objection = s->objection(a)))
		argp_error(state, "%s", objection);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct wv_arguments *a = state->input;

	if (key == ARGP_KEY_ARG)
		take_argument(a, arg, state);
	else if (key == ARGP_KEY_END)
		check(a, state);
	else if (key >= WV_OPTION(subcommand) && key <= WV_OPTION(program))
		take_option(a, key, arg, state);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static bool is_parsing;

static int failure(void)
{
	return argp_err_exit_status == WV_EXIT_USAGE ? WV_EXIT_FAILED : argp_err_exit_status;
}

/* argp itself ends the process once it has printed a help or the version. */
static void check_output(void)
{
	if (!is_parsing || !fflush(stdout))
		return;
	wv_complain(NULL, "cannot print the help: %s", strerror(errno));
	_exit(failure());
}

void wv_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			void *input)
{
	int err;

	is_parsing = !atexit(check_output);
	err = argp_parse(argp, argc, argv, flags, NULL, input);
	is_parsing = false;
	if (!err)
		return;
	wv_complain(NULL, "the arguments cannot be read: %s", strerror(err));
	exit(failure());
}

int wv_subcommand_run(const struct wv_subcommand *subcommand, int argc, char **argv)
{
	const struct argp argp = {
	    .options = subcommand->options,
	    .parser = parse,
	    .args_doc = subcommand->arguments,
	    .doc = subcommand->help,
	};
	struct wv_arguments a = {.subcommand = subcommand};
	char name[64];

	snprintf(name, sizeof(name), "warmverbs %s", subcommand->name);
	argv[0] = name;
	argp_err_exit_status = subcommand->runs_program ? WV_EXIT_NOT_STARTED : WV_EXIT_USAGE;
	wv_arguments_parse(&argp, argc, argv, subcommand->runs_program ? ARGP_IN_ORDER : 0, &a);
	return (a.action ? a.action->main : subcommand->main)(&a);
}
