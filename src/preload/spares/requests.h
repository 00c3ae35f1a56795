/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection requests of clients, as librdmacm reports them. A request names the client's queue
 * pair before the server creates its own, so the server's end of a pair is found for it, however
 * many clients connect at once.
 */
#pragma once

#include <stdint.h>

struct rdma_cm_event;
struct rdma_cm_id;

/* The client's queue pair. */
struct wv_request {
	uint8_t gid[16];
	uint32_t qp_num; /* 0: there is no request */
};

/* rdma_get_cm_event() has returned @event. Call with no lock held. */
void wv_requests_note(const struct rdma_cm_event *event);

/*
 * Around the creation of a queue pair for @id by this thread. What the other functions say is about
 * that creation.
 */
void wv_request_begin(const struct rdma_cm_id *id);
void wv_request_end(void);

/* The request for which this thread creates a queue pair. */
const struct wv_request *wv_request_current(void);

/* In a forked child. */
void wv_requests_forget(void);
