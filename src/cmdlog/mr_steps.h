/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps that register memory (WV_REGISTER): memory of the lease that is data. The adapter knows it
 * by the address that it has in the program, so the lease says where it is to be mapped.
 */
#pragma once

#include "cmdlog/cmdlog.h"

#include <rdma/ib_user_verbs.h>

/* The request of @step. NULL: it does not register memory. */
const struct ib_uverbs_reg_mr *wv_step_registration(struct wv_step *step);

/* Whether memory may be registered ahead for @access (enum ibv_access_flags). */
bool wv_access_may_be_leased(uint32_t access);

/*
 * Why @step of a recipe, which registers memory of @size bytes, may not be carried out ahead; or
 * NULL.
 */
const char *wv_registration_obstacle(struct wv_step *step, uint64_t size);

/* Where the memory of a lease that is not placed yet is to be mapped; 0: anywhere. */
uint64_t wv_lease_place_wanted(struct wv_cmdlog *lease);

/* Whether a step of the lease registers the memory at @start. */
bool wv_lease_registers(struct wv_cmdlog *lease, uint64_t start);
