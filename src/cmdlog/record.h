/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a program's commands to the steps of a WV_RECORD command log.
 */
#pragma once

#include "cmdlog/allocations.h"
#include "cmdlog/writer.h"

/* Named outcome: warmverbs does not know the command in full. Nothing after it may be recorded. */
#define WV_UNKNOWN 1

/*
 * Opens a step for @cmd, whose row is @row (may be NULL), before the kernel sees the command.
 * Inputs are copied, without addresses and user handles. If the command is the first to name some
 * memory in @memory (may be NULL), that memory becomes a step before it, with its initial pattern.
 * Opens no step for commands that no recipe holds; keeps only the name of a privileged one
 * (WV_PRIVILEGED). Returns 0 or WV_UNKNOWN.
 */
int wv_record_command(struct wv_cmdlog_writer *w, const struct ib_uverbs_ioctl_hdr *cmd,
		      const struct wv_command_row *row, struct wv_allocations *memory);

/* Closes the step with the kernel's answer; @error is 0 or an errno value. */
void wv_record_answer(struct wv_cmdlog_writer *w, const struct ib_uverbs_ioctl_hdr *cmd,
		      const struct wv_command_row *row, int error);
