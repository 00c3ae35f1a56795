/*
 * Memory for queues, where a provider takes it from the program: from the lease that brings it, and
 * noted while a program is recorded.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

struct wv_context;

/*
 * Whether the environment chooses the memory of queues (huge or contiguous pages; libmlx5's buf.c).
 * A lease would override that choice, so such a program is left alone.
 */
bool wv_queues_are_chosen(void);

/*
 * Makes the provider of @verbs ask us for the memory of its queues, if @c is leased or recorded and
 * its driver does that. Where it cannot be done, the context is followed no further. Call with no
 * lock held.
 */
void wv_queues_place(struct ibv_context *verbs, struct wv_context *c);
