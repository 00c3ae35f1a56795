/*
 * From a program's command to a step of a WV_RECORD command log, and on to a WV_RECIPE.
 */
#pragma once

#include "cmdlog/allocations.h"
#include "cmdlog/cmdlog.h"

/* Named outcome: warmverbs does not know the command in full. Nothing after it may be recorded. */
#define WV_UNKNOWN 1

/*
 * Opens a step for @cmd, whose row is @row (may be NULL), before the kernel sees it: inputs are
 * copied, addresses and user handles are left out. Memory among @memory (may be NULL) that the
 * command is the first to name becomes a step before it, with its contents as they are now.
 * Commands that a recipe has no use for open no step; of one that may need rights (WV_PRIVILEGED)
 * only the name is kept. Returns 0 or WV_UNKNOWN.
 */
int wv_record_command(struct wv_cmdlog_writer *w, const struct ib_uverbs_ioctl_hdr *cmd,
		      const struct wv_command_row *row, struct wv_allocations *memory);

/* Closes the step with what the kernel answered: @error is 0 or an errno value. */
void wv_record_answer(struct wv_cmdlog_writer *w, const struct ib_uverbs_ioctl_hdr *cmd,
		      const struct wv_command_row *row, int error);

/*
 * The handle that @cmd destroys, moves, reads or otherwise is about: its first handle, as an
 * attribute or inside CORE_IN. WV_NONE if there is none.
 */
uint32_t wv_command_target(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row);

/* Object handle, descriptor or number that @cmd received from the kernel, WV_NONE if none. */
uint32_t wv_command_made(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row,
			 enum wv_kind kind);

/*
 * Writes into @memory the recipe of a record that passed wv_cmdlog_check(): what may be done ahead
 * of time, in order, with handles and descriptors as numbers of the steps that make them. A step
 * that needs something that is not in the recipe is left out, as is everything that needs it in
 * turn. Returns 0, or -ENOSPC.
 */
int wv_normalise(struct wv_cmdlog *record, void *memory, size_t capacity);

/* The QP state that a WV_MODIFY step, or command, asks for; -1 if it asks for none. */
int wv_step_qp_state(struct wv_step *step);
int wv_command_qp_state(const struct ib_uverbs_ioctl_hdr *cmd);
