/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/reason.h"

#include "abi/abi.h"
#include "cmdlog/adopt.h"

#include <string.h>

const char *wv_reason(const struct wv_command_id *command, const char *why)
{
	const struct wv_command_row *row =
	    wv_abi_find(command->driver_id, command->object, command->method, command->write_cmd);

	if (row && row->class_ == WV_PRIVILEGED && !strcmp(why, wv_why_name(WV_WHY_UNKNOWN)))
		return "privileged command";
	return why;
}
