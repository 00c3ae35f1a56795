/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions that begin and end a connection. */
#include "base/base.h"
#include "service/events.h"
#include "service/handshake.h"
#include "service/prepared.h"
#include "service/route.h"

#include <errno.h>

WV_PUBLIC int wv_service_connect(const struct wv_connect_attr *attr, size_t size,
				 struct wv_service_connection **connection)
{
	struct wv_connect_attr known = {.node = NULL};
	struct wv_service_conn_end *end;
	int err = 0;

	if (!attr || !size || !connection)
		return EINVAL;
	memcpy(&known, attr, size < sizeof(known) ? size : sizeof(known));
	if (known.ahead > WV_STOCK_MOST)
		return EINVAL;
	end = known.ahead ? wv_service_stock_take(&known) : NULL;
	if (!end)
		err = wv_service_make(&known, &end);
	if (!err)
		*connection = &end->public;
	return -err;
}

WV_PUBLIC void wv_service_disconnect(struct wv_service_connection *connection)
{
	struct wv_service_conn_end *end;

	if (!connection)
		return;
	end = WV_OWNER(connection, struct wv_service_conn_end, public);
	if (ibv_destroy_qp(connection->qp))
		return;
	if (end->route)
		wv_service_route_leave(end);
	else
		wv_offer_leave(end);
}
