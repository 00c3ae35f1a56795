/* SPDX-License-Identifier: BSD-2-Clause */
/* See loader.c. */
void in_constructor(void);

__attribute__((constructor)) static void construct(void)
{
	in_constructor();
}
