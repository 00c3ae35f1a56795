/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command logs that were tampered with, by numbers that are the same in every run.
 */
#pragma once

#include "cmdlog/cmdlog.h"

/* The numbers from here on follow from @seed. */
void tamper_seed(uint64_t seed);

/* A number smaller than @n. */
uint32_t below(uint32_t n);

/*
 * A copy of @original, which was checked, with steps left out or given twice, numbers of steps and
 * bytes overwritten. Its memory has exactly its size; the caller frees it.
 */
struct wv_cmdlog *tampered(struct wv_cmdlog *original);
