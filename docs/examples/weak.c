/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs with warmverbs and without it. The program is not linked with the library, but sees whether
 * the library was preloaded.
 *
 * cc weak.c
 * warmverbs run -- ./a.out
 */
#include <stdio.h>
#include <warmverbs.h>

#pragma weak wv_version

int main(void)
{
	if (wv_version)
		printf("warmverbs %s\n", wv_version());
	else
		printf("no warmverbs\n");
	return 0;
}
