/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/requests.h"

#include "base/base.h"
#include "preload/client/daemon_connection.h"
#include "preload/pairs/partner.h"
#include "preload/stock/stock.h"

#include <rdma/rdma_cma.h>

#define REQUESTS 64 /* that were reported and have no queue pair yet; the oldest is forgotten */

/* Guarded by the lock of the stock. */
static struct reported {
	const struct rdma_cm_id *id;
	struct wv_qp_peer client;
} reported[REQUESTS] WV_COLD(1);
static unsigned int n_reported; /* since the start */

static __thread struct wv_qp_peer current __attribute__((tls_model("initial-exec")));

static struct reported *find(const struct rdma_cm_id *id)
{
	for (unsigned int i = 0; i < REQUESTS; i++)
		if (reported[i].id == id)
			return &reported[i];
	return NULL;
}

static bool names_a_queue_pair(const struct rdma_cm_event *event)
{
	return event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->id &&
	       event->id->ps != RDMA_PS_UDP && event->param.conn.qp_num;
}

void wv_requests_note(const struct rdma_cm_event *event)
{
	struct reported *r;

	if (!names_a_queue_pair(event) || !wv_client_allows_pairs())
		return;
	wv_stock_lock();
	r = find(event->id) ?: &reported[n_reported++ % REQUESTS];
	r->id = event->id;
	r->client.qp_num = event->param.conn.qp_num;
	memcpy(r->client.gid, &event->id->route.addr.addr.ibaddr.dgid, sizeof(r->client.gid));
	wv_stock_unlock();
}

void wv_request_begin(const struct rdma_cm_id *id)
{
	struct reported *r;

	if (!__atomic_load_n(&n_reported, __ATOMIC_RELAXED))
		return;
	wv_stock_lock();
	r = find(id);
	if (r) {
		current = r->client;
		r->id = NULL;
	}
	wv_stock_unlock();
}

void wv_request_end(void)
{
	current.qp_num = 0;
}

const struct wv_qp_peer *wv_request_current(void)
{
	return &current;
}

/* A claimed spare whose client is that of @request. */
static struct wv_young_qp *requested(const struct wv_qp_peer *request)
{
	wv_each_young (y)
		if (y->state == WV_YOUNG_CLAIMED && y->by_request &&
		    wv_qp_peer_is(&y->partner.peer, request))
			return y;
	return NULL;
}

/* The claimed spare of which no request will tell, if it is the only one. */
static struct wv_young_qp *only_one(void)
{
	struct wv_young_qp *only = NULL;

	wv_each_young (y) {
		if (y->state != WV_YOUNG_CLAIMED || y->by_request)
			continue;
		if (only)
			return NULL;
		only = y;
	}
	return only;
}

struct wv_young_qp *wv_request_named(const struct wv_qp_key *key, const struct wv_qp_peer *request)
{
	struct wv_young_qp *y = request->qp_num ? requested(request) : only_one();

	return y && !memcmp(&y->key, key, sizeof(*key)) ? y : NULL;
}

struct wv_young_qp *wv_request_take(const struct wv_qp_key *key)
{
	struct wv_young_qp *y = wv_request_named(key, &current);

	return y && wv_partner_take(y) ? y : NULL;
}

void wv_requests_forget(void)
{
	memset(reported, 0, sizeof(reported));
	n_reported = 0;
	current.qp_num = 0;
}
