/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests in advance. A program asks when it lists devices, so that the lease has arrived when it
 * opens one. If it frees the list instead, the lease is lost: its descriptors were sent. So a
 * program that has done this is asked to come back when it opens a device, until several of its
 * runs in a row have opened one after the first list.
 */
#pragma once

#include "store/recipe.h"

/* A program has asked for a lease of @recipe, with @flags (enum wv_request_flag). Whether to put
 * the program off. */
bool wv_ahead_puts_off(struct wv_recipe *recipe, uint32_t flags);

/* A program has lost a lease of @recipe, which was handed out in advance. */
void wv_ahead_in_vain(struct wv_recipe *recipe);

/* A program that asked with @flags has opened the device, and was served or recorded. */
void wv_ahead_opened(struct wv_recipe *recipe, uint32_t flags);
