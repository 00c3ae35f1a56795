/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which recipe gives way when there are too many. Beyond the limits of all recipes it is one of
 * whoever has most: nobody who has less loses any to those who record much.
 */
#pragma once

#include "store/catalog.h"

/*
 * The recipe that must go, now that @newest was added, which is never it; NULL if the limits are
 * kept. @user is the user of @newest.
 */
struct wv_recipe *wv_catalog_surplus(struct wv_catalog *c, struct wv_user *user,
				     const struct wv_recipe *newest);
