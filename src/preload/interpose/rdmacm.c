/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two functions of librdmacm. They are interposed for the server's ends of pairs: one reports the
 * requests of clients, and one creates a queue pair for such a request. librdmacm itself calls them
 * in rdma_get_request(), rdma_create_qp() and rdma_create_ep(). The first also reports connections,
 * and in it librdmacm allocates a PD for a connection if it has no other.
 */
#include "base/base.h"
#include "cmdlog/difference.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"
#include "preload/lease/news.h"
#include "preload/pairs/requests.h"

#include <errno.h>
#include <rdma/rdma_cma.h>

#define LIBRARY "librdmacm.so.1"
#define VERSION "RDMACM_1.0"

static __typeof__(&rdma_get_cm_event) get_cm_event;
static __typeof__(&rdma_create_qp_ex) create_qp_ex;

/* Several threads may do this at the same time: they write the same value. */
static void *look_up(void **bound, const char *name)
{
	void *fn = wv_real_lasting_symbol(LIBRARY, name, VERSION);

	__atomic_store_n(bound, fn, __ATOMIC_RELAXED);
	if (!fn)
		errno = ENOSYS;
	return fn;
}

#define BOUND(fn, name)                                                                            \
	(__atomic_load_n(&(fn), __ATOMIC_RELAXED) ?: (__typeof__(fn))look_up((void **)&(fn), name))

/* With iWARP, no command moves a client's queue pair to RTS (drivers/infiniband/core/iwcm.c). */
static void note_connection(const struct rdma_cm_event *event)
{
	const struct ibv_context *verbs = event->id->verbs;

	if (event->event == RDMA_CM_EVENT_ESTABLISHED && verbs &&
	    verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		wv_news_established(verbs->cmd_fd);
}

WV_PUBLIC int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	__typeof__(get_cm_event) real = BOUND(get_cm_event, "rdma_get_cm_event");
	int result;

	wv_scope.why = WV_WHY_PASS; /* of a PD: librdmacm allocates one while it has connections */
	result = real ? real(channel, event) : -1;
	wv_scope.why = WV_WHY_NONE;
	if (!result) {
		wv_requests_note(*event);
		note_connection(*event);
	}
	return result;
}

WV_PUBLIC int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	__typeof__(create_qp_ex) real = BOUND(create_qp_ex, "rdma_create_qp_ex");
	int result;

	wv_request_begin(id);
	result = real ? real(id, attr) : -1;
	wv_request_end();
	return result;
}
