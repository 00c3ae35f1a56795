/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/dispatch.h"

#include "base/base.h"
#include "daemon/ipc/lease_requests.h"
#include "daemon/ipc/outcome.h"
#include "daemon/ipc/pair_clients.h"
#include "daemon/ipc/pool_requests.h"
#include "daemon/ipc/queries.h"
#include "daemon/ipc/service_clients.h"

typedef enum wv_client_next (*handler_fn)(struct wv_client *c, const struct wv_received *in);

/*
 * Which message is expected in which state; every other one is malformed. A client has at most one
 * message to send at a time, so it cannot pile up work.
 */
static const struct {
	enum wv_client_state state;
	enum wv_msg_type type;
	unsigned int n_fds;
	handler_fn handle;
} expected[] = {
    {WV_CLIENT_NEW, WV_MSG_REQUEST, 1, wv_handle_request},
    {WV_CLIENT_NEW, WV_MSG_CONTROL, 0, wv_handle_control},
    {WV_CLIENT_RECORDING, WV_MSG_RECORD, 0, wv_handle_record},
    {WV_CLIENT_LEASED, WV_MSG_REPORT, 0, wv_handle_report},
    {WV_CLIENT_NEW, WV_MSG_POOL, 0, wv_handle_pool},
    {WV_CLIENT_POOL, WV_MSG_POOL, 0, wv_handle_pool},
    {WV_CLIENT_LEASED, WV_MSG_CONNECTED, 0, wv_handle_connected},
    {WV_CLIENT_LEASED, WV_MSG_PAIR, 0, wv_handle_stays},
    {WV_CLIENT_NEW, WV_MSG_PAIR, 0, wv_handle_keeper},
    {WV_CLIENT_KEEPER, WV_MSG_PAIR, 0, wv_handle_keeper},
    {WV_CLIENT_NEW, WV_MSG_SERVICE, 0, wv_handle_service},
    {WV_CLIENT_SERVICES, WV_MSG_SERVICE, 0, wv_handle_service},
};

enum wv_client_next wv_dispatch(struct wv_client *c, const struct wv_received *in, size_t bytes)
{
	int type = wv_msg_check(in->msg, bytes);

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(expected); i++)
		if (expected[i].state == c->state && (int)expected[i].type == type &&
		    expected[i].n_fds == in->n_fds)
			return expected[i].handle(c, in);
	return WV_CLIENT_MALFORMED;
}

void wv_dispatch_stop(struct wv_client *c)
{
	wv_pool_request_end(c);
	wv_service_client_end(c);
}

void wv_dispatch_end(struct wv_client *c)
{
	if (c->state == WV_CLIENT_LEASED)
		wv_handle_end(c);
	wv_dispatch_stop(c);
	wv_pair_client_end(c);
}
