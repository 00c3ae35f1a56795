/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contexts that have spares: their own functions that create something are called as
 * WV_WITH_ROOM() calls a verb (spares.h).
 */
#pragma once

#include "preload/prefork/set.h"

#include <stdbool.h>

/*
 * @context is about to have spares: its functions are replaced until wv_room_leave(), before it is
 * closed. Call with the maker's lock held.
 */
void wv_room_enter(struct ibv_context *context);
void wv_room_leave(const struct ibv_context *context);

/* The provider's functions of @context. False: it has had no spares. */
bool wv_room_ops(const struct ibv_context *context, struct wv_context_ops *ops);
