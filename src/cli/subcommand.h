/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the subcommands have in common. Each is a struct of its own, and a row in main.c.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit codes; warmverbs(1) explains them to users. */
enum wv_exit {
	WV_EXIT_FAILED = 1,	   /* the reason was printed */
	WV_EXIT_USAGE = 2,	   /* the command line is wrong */
	WV_EXIT_NO_DAEMON = 3,	   /* no daemon answers at the socket */
	WV_EXIT_NOT_STARTED = 125, /* run, explain: warmverbs itself failed */
	WV_EXIT_NOT_RUNNABLE = 126,
	WV_EXIT_NOT_FOUND = 127,
};

/* What the command line says. */
struct wv_arguments {
	const struct wv_subcommand *subcommand;
	bool details, json, no_lease, prometheus, summary, template; /* options, by their names */
	const char *name, *output, *socket;			     /* the same; NULL: not given */
	const struct wv_action *action;				     /* of wv_subcommand.actions */
	const char *operand; /* of the action, if it has one */
	char **program;	     /* and its arguments */
};

/* The key of an option: the member that it sets. Above every character, so that none is short. */
#define WV_OPTION(member) (0x100 + (int)offsetof(struct wv_arguments, member))

#define WV_JSON_OPTION                                                                             \
	{                                                                                          \
		"json", WV_OPTION(json), NULL, 0, "Print JSON", 0                                  \
	}
#define WV_SOCKET_OPTION                                                                           \
	{                                                                                          \
		"socket", WV_OPTION(socket), "PATH", 0, "Socket of the daemon", 0                  \
	}

typedef int (*wv_subcommand_main)(const struct wv_arguments *a); /* returns the exit code */

struct wv_action {
	const char *name;
	const char *operand; /* what it needs, as an error says it; NULL: nothing */
	wv_subcommand_main main;
};

struct wv_subcommand {
	const char *name, *summary;
	const struct argp_option *options;
	const char *arguments, *help; /* as in struct argp */

	/* Of the next three there is one. */
	bool runs_program;		 /* a program and its arguments follow the options */
	const struct wv_action *actions; /* one of them follows; the last has no name */
	wv_subcommand_main main;	 /* nothing follows */

	const char *action_names; /* "this, that or other" */

	/* What is wrong with the options together, or NULL; may itself be NULL. */
	const char *(*objection)(const struct wv_arguments *a);
};

/*
 * Parses the arguments as argp_parse() does, and ends the process if that has no memory. argp would
 * return then without having called any parser.
 */
void wv_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			void *input);

/* Carries out a subcommand; @argv begins with its name. Returns the exit code. */
int wv_subcommand_run(const struct wv_subcommand *subcommand, int argc, char **argv);
