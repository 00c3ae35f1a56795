/* SPDX-License-Identifier: BSD-2-Clause */
/* A library, and another one by the same name. */
__attribute__((visibility("default"))) int value(void);

int value(void)
{
	return VALUE;
}
