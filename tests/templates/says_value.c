/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

__attribute__((visibility("default"))) int value(void);

int main(void)
{
	printf("%d\n", value());
	return 0;
}
