/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names, for people, of the commands in traces and reports.
 */
#pragma once

#include "abi/abi.h"
#include "wire/trace_record.h"

#include <stdbool.h>

/* A command, as a trace or a report names it. */
struct wv_command_id {
	uint32_t driver_id;
	uint16_t object, method;
	uint32_t write_cmd;
};

static inline struct wv_command_id wv_command_of(const struct wv_trace *event)
{
	return (struct wv_command_id){event->driver_id, event->object, event->method,
				      event->write_cmd};
}

/* Its name in the ABI table; if it has no row, its numbers, written into @buffer. */
const char *wv_command_name(const struct wv_command_id *command, char *buffer, size_t capacity);

/* Whether it moves a queue pair. */
bool wv_command_moves_qp(const struct wv_command_id *command);
