/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adoption of a lease's memory, for queues and for data. The caller holds the lock that guards the
 * lease.
 */
#pragma once

#include "cmdlog/adopt.h"

/* The first unclaimed memory for a queue of @bytes. NULL if there is none. */
void *wv_lease_claim_memory(struct wv_lease *lease, size_t bytes);

/*
 * Unclaimed memory of which the lease has registered @bytes for @access (enum ibv_access_flags).
 * NULL if there is none.
 */
void *wv_lease_claim_registered(struct wv_lease *lease, size_t bytes, int access);

/* The program frees the memory at @at. */
void wv_lease_free_memory(struct wv_lease *lease, const void *at);

/* Whether @memory, a step, is data that the program has and has not freed. */
bool wv_lease_is_data(struct wv_lease *lease, struct wv_step *memory);

/* The memory is not where the adapter knows it: no registration of it is of use. */
void wv_lease_kill_registrations(struct wv_lease *lease);
