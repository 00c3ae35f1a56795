/* SPDX-License-Identifier: BSD-2-Clause */
#include "words.h"

#include <unistd.h>

int main(int argc, char **argv)
{
	static struct program program;

	alarm(LIMIT_S);
	run_words(&program, argv + 1, argc - 1);
	return 0;
}
