/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command_name.h"

#include <stdio.h>

static const struct wv_command_row *find(const struct wv_command_id *c)
{
	return wv_abi_find(c->driver_id, c->object, c->method, c->write_cmd);
}

const char *wv_command_name(const struct wv_command_id *command, char *buffer, size_t capacity)
{
	const struct wv_command_row *row = find(command);

	if (row)
		return row->name;
	if (command->write_cmd != WV_NO_WRITE_CMD)
		snprintf(buffer, capacity, "command %#x", command->write_cmd);
	else
		snprintf(buffer, capacity, "object %#x method %#x", command->object,
			 command->method);
	return buffer;
}

bool wv_command_moves_qp(const struct wv_command_id *command)
{
	const struct wv_command_row *row = find(command);

	return row && row->class_ == WV_MODIFY;
}
