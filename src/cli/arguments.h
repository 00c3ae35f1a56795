/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <argp.h>
#include <stdbool.h>

/*
 * Parses the arguments as argp_parse() does, and ends the process if that has no memory. argp would
 * return then without having called any parser.
 */
void wv_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			void *input);

/* What subcommands take that ask the daemon. */
struct wv_asking {
	bool json;
	const char *socket;
};

/*
 * --json and --socket, for a struct wv_asking: a child of the subcommand's parser, and the only
 * child of a subcommand without one. Refuses the arguments that the subcommand leaves.
 */
extern const struct argp_child wv_asking_argp[];
