/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recipe without its end.
 */
#pragma once

#include "cmdlog/cmdlog.h"

/*
 * Writes into @memory, which has room for as much as @recipe takes, its first @n_steps steps,
 * without memory at their end that only later steps name. No step refers to a later one, so what is
 * left may be carried out if @recipe may.
 */
void wv_shorten(struct wv_cmdlog *recipe, unsigned int n_steps, void *memory);
