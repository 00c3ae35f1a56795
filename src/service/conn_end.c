/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/conn_end.h"

#include "base/base.h"

void wv_service_conn_know(struct wv_service_conn_end *conn, const struct wv_service_note *made)
{
	struct wv_service_connection *public = &conn->public;

	for (unsigned int i = 0; i < made->n_regions; i++)
		conn->regions[i] = (struct wv_region){.addr = made->regions[i].addr,
						      .length = made->regions[i].length,
						      .rkey = made->regions[i].rkey};
	memcpy(conn->data, made->data, made->data_bytes);
	public->regions = made->n_regions ? conn->regions : NULL;
	public->n_regions = made->n_regions;
	public->data = made->data_bytes ? conn->data : NULL;
	public->data_bytes = made->data_bytes;
}
