/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/requests.h"

#include "base/base.h"
#include "preload/client/daemon_connection.h"
#include "preload/spares/locks.h"

#include <rdma/rdma_cma.h>

#define REQUESTS 64 /* that were reported and have no queue pair yet; the oldest is forgotten */

/* Guarded by the lock of the stock. */
static struct reported {
	const struct rdma_cm_id *id;
	struct wv_request request;
} reported[REQUESTS] WV_COLD(1);
static unsigned int n_reported; /* since the start */

static __thread struct wv_request current __attribute__((tls_model("initial-exec")));

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
	r->request.qp_num = event->param.conn.qp_num;
	memcpy(r->request.gid, &event->id->route.addr.addr.ibaddr.dgid, sizeof(r->request.gid));
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
		current = r->request;
		r->id = NULL;
	}
	wv_stock_unlock();
}

void wv_request_end(void)
{
	current.qp_num = 0;
}

const struct wv_request *wv_request_current(void)
{
	return &current;
}

void wv_requests_forget(void)
{
	memset(reported, 0, sizeof(reported));
	n_reported = 0;
	current.qp_num = 0;
}
