/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection requests of clients, as librdmacm reports them. A request names the client's queue
 * pair before the server creates its own, so the server's end of a pair is found for it, however
 * many clients connect at once.
 */
#pragma once

#include "preload/stock/young.h"

struct rdma_cm_event;
struct rdma_cm_id;

/* rdma_get_cm_event() has returned @event. Call with no lock held. */
void wv_requests_note(const struct rdma_cm_event *event);

/*
 * Around the creation of a queue pair for @id by this thread. What the other functions say is about
 * that creation.
 */
void wv_request_begin(const struct rdma_cm_id *id);
void wv_request_end(void);

/* The client's queue pair, by the request for which this thread creates one; qp_num 0: none. */
const struct wv_qp_peer *wv_request_current(void);

/*
 * The claimed spare for the next queue pair of @key. If the queue pairs of the shape are created
 * for requests, that with the client of @request; otherwise (qp_num is 0) the only one. NULL: there
 * is none, or it is not certain which. Call with the lock of the stock held.
 */
struct wv_young_qp *wv_request_named(const struct wv_qp_key *key, const struct wv_qp_peer *request);

/* That for the creation by this thread, which the program has from then on. The same lock. */
struct wv_young_qp *wv_request_take(const struct wv_qp_key *key);

/* In a forked child. */
void wv_requests_forget(void);
