/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the version of warmverbs that is in use.
 *
 * cc version.c $(pkg-config --cflags --libs warmverbs)
 */
#include <stdio.h>
#include <warmverbs.h>

int main(void)
{
	printf("warmverbs %s\n", wv_version());
	return 0;
}
