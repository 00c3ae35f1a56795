/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printing the values inside commands that mean something to people (abi/names.h).
 */
#pragma once

#include "cli/command_name.h"
#include "cmdlog/cmdlog.h"

#include <stdio.h>

/* Prints the name of the value at byte @offset of attribute @attr. */
void wv_print_value_name(FILE *out, const struct wv_command_id *command, uint16_t attr,
			 uint32_t offset);

/* Prints what a step of a recipe for @driver_id asks for: "cqe 256, comp_vector 0". */
void wv_print_step_values(FILE *out, uint32_t driver_id, struct wv_step *step);
