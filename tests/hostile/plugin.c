/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that nobody should load: says so when it is. */
#include <unistd.h>

__attribute__((constructor)) static void say(void)
{
	static const char text[] = "a stranger's code runs\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
}
