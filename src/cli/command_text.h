/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands in traces and reports, for people: their names, why they were not adopted, and the
 * values in them that mean something to people (abi/names.h).
 */
#pragma once

#include "abi/abi.h"
#include "cmdlog/cmdlog.h"
#include "wire/trace_record.h"

#include <stdbool.h>
#include <stdio.h>

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

/* Its row in the ABI table; NULL: it has none. */
const struct wv_command_row *wv_command_row(const struct wv_command_id *command);

/* Its name in the ABI table; if it has no row, its numbers, written into @buffer. */
const char *wv_command_name(const struct wv_command_id *command, char *buffer, size_t capacity);

/* Whether it moves a queue pair. */
bool wv_command_moves_qp(const struct wv_command_id *command);

/* Prints the name of the value at byte @offset of attribute @attr. */
void wv_print_value_name(FILE *out, const struct wv_command_id *command, uint16_t attr,
			 uint32_t offset);

/*
 * Prints why the command was not adopted: @why (wv_why_name()), and the value at byte @offset of
 * attribute @attr if it was that.
 */
void wv_print_reason(FILE *out, const struct wv_command_id *command, const char *why, uint16_t attr,
		     uint32_t offset);

/* Prints what a step of a recipe for @driver_id asks for: "cqe 256, comp_vector 0". */
void wv_print_step_values(FILE *out, uint32_t driver_id, struct wv_step *step);
