/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs with leases say of their connections. */
#pragma once

#include "daemon/pairs/holder.h"
#include "daemon/pool/pooled_lease.h"
#include "store/recipe.h"

struct wv_edge_report;

/*
 * Whether the program that gets @lease of @recipe is to be asked how it connects: that costs it
 * some time as it starts. @p may be NULL.
 */
bool wv_pairs_wants_report(const struct wv_pairs *p, struct wv_recipe *recipe,
			   const struct wv_pooled_lease *lease);

/*
 * A program of @holder, with a lease, has connected a queue pair. @report->moves passed
 * wv_validate_moves(); the peer and both GIDs are filled in here, from the device @ibdev.
 */
void wv_pairs_report(struct wv_pairs *p, const char *ibdev, struct wv_edge_report *report);
