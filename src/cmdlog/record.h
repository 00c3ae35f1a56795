/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a program's commands to the steps of a WV_RECORD command log.
 */
#pragma once

#include "cmdlog/writer.h"

#include <stdbool.h>

/* Memory that a program's provider allocated for its queues, while the program is recorded. */
#define WV_MAX_ALLOCATIONS 512

struct wv_allocation {
	const uint8_t *at;
	size_t bytes;
	uint32_t id; /* from 1 in the order of allocation */
	bool recorded;
};

struct wv_allocations {
	struct wv_allocation all[WV_MAX_ALLOCATIONS];
	unsigned int n;
	uint32_t last_id;
};

/* Remembers an allocation. More than WV_MAX_ALLOCATIONS stay unknown, and so are not recorded. */
void wv_allocations_add(struct wv_allocations *a, const void *at, size_t bytes);
/* The memory at @at was freed. */
void wv_allocations_remove(struct wv_allocations *a, const void *at);
/* The allocation that @address lies in, or NULL. */
struct wv_allocation *wv_allocations_find(struct wv_allocations *a, uint64_t address);

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
