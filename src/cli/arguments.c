/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/arguments.h"

#include "cli/complain.h"
#include "cli/subcommand.h"

#include <stdlib.h>
#include <string.h>

void wv_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			void *input)
{
	int err = argp_parse(argp, argc, argv, flags, NULL, input);

	if (!err)
		return;
	wv_complain(NULL, "the arguments cannot be read: %s", strerror(err));
	exit(argp_err_exit_status == WV_EXIT_USAGE ? WV_EXIT_FAILED : argp_err_exit_status);
}
