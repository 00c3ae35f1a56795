/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a program and tells timer.c in it when it was started: stamp PROGRAM ARGUMENTS... */
#include "stamp.h"

#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char now[24];

	if (argc < 2)
		give_up(0, "which program? usage: stamp PROGRAM [ARGUMENT...]");
	snprintf(now, sizeof(now), "%lu", (unsigned long)clock_ns());
	setenv(STAMP_ENV, now, 1);
	execvp(argv[1], argv + 1);
	give_up(errno, "cannot run %s", argv[1]);
}
