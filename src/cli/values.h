/*
 * The values inside commands that mean something to people: a table of where they are.
 */
#pragma once

#include "cmdlog/cmdlog.h"

#include <stdio.h>

/* Prints which value of a command is meant: that at byte @offset of attribute @attr. */
void wv_print_value_name(FILE *out, uint16_t object, uint16_t method, uint32_t write_cmd,
			 uint16_t attr, uint32_t offset);

/* Prints what a recipe's step asks for: "cqe 256, comp_vector 0". */
void wv_print_step_values(FILE *out, struct wv_step *step);
