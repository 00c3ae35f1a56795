/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <argp.h>

/*
 * Parses the arguments as argp_parse() does, and ends the process if that has no memory. argp would
 * return then without having called any parser.
 */
void wv_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			void *input);
