/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client, which is a program or the command line, as the handlers of its messages see it.
 */
#pragma once

#include "daemon/ipc/service.h"
#include "wire/wire.h"

enum wv_client_state {
	WV_CLIENT_NEW,	     /* a request or a question is expected */
	WV_CLIENT_RECORDING, /* a recording is expected */
	WV_CLIENT_LEASED,    /* a report is expected */
	WV_CLIENT_POOL,	     /* its pool request stands; another one may replace it */
	WV_CLIENT_DONE,	     /* nothing is expected */
};

struct wv_client {
	struct wv_service *service;
	struct wv_user *user;
	int fd;
	enum wv_client_state state;
	int64_t since_us; /* time of the connection; LEASED: of the lease */
	/* From its request: */
	struct wv_key key;
	uint64_t argv;
	char comm[17];
	uint64_t recipe; /* LEASED: id */
	/* Of its pool request: */
	LIST_ENTRY(wv_client) pool_link; /* of the service's pool requests */
	uint32_t leases;		 /* 0: it has none */
};

/* What to do with the connection after a message. */
enum wv_client_next {
	WV_CLIENT_KEEP,
	WV_CLIENT_CLOSE,
	WV_CLIENT_MALFORMED, /* close and count */
};

/* A message whose size was checked. The descriptors are borrowed. */
struct wv_received {
	struct wv_msg *msg;
	const int *fds;
	unsigned int n_fds;
};

/* Notes which program the client is. */
void wv_client_remember(struct wv_client *c, const struct wv_msg_request *request);
