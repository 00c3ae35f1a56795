/* SPDX-License-Identifier: BSD-2-Clause */
/* For images whose libc is not glibc. */
#include <stdio.h>

int main(void)
{
	return puts("hello") < 0;
}
