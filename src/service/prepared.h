/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that were made ahead, because the program has said how many it wants. Each stock is
 * of connections to one service, which are made alike.
 */
#pragma once

#include "service/conn_end.h"

#define WV_STOCK_MOST 64 /* connections of one stock */

/*
 * One of the stock for @attr, which is the caller's; NULL: it has none. The stock is begun if there
 * is none, and filled.
 */
struct wv_service_conn_end *wv_service_stock_take(const struct wv_connect_attr *attr);
