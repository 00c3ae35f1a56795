/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a WV_RECORD command log to a WV_RECIPE.
 */
#pragma once

#include "cmdlog/cmdlog.h"

/*
 * Writes into @memory the recipe of a record that passed wv_cmdlog_check(): the steps that may be
 * carried out ahead of time, in order, with handles and descriptors replaced by the numbers of the
 * steps that make them. Omits a step that needs something outside the recipe, and in turn
 * everything that needs that step. Omits the initial pattern of memory that no command names.
 * Returns 0, or -ENOSPC.
 */
int wv_normalise(struct wv_cmdlog *record, void *memory, size_t capacity);
