/* SPDX-License-Identifier: BSD-2-Clause */
#include "shared_kit.h"

struct kit kit;

int set_up_kit(void **state)
{
	(void)state;
	open_kit(&kit);
	return 0;
}

int tear_down_kit(void **state)
{
	(void)state;
	close_kit(&kit);
	wait_objects("ufiles", 0);
	return 0;
}
