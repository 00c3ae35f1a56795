/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways in which a client of host.c is connected. All functions end the program on failure. */
#pragma once

#include "../connect/link.h"
#include "warmverbs-service.h"

enum way {
	PLAIN, /* create, INIT, RTR and RTS on both sides, and an exchange over TCP */
	ASKED, /* as a client of the service */
	AHEAD, /* the same, connected ahead */
	WAYS
};

extern const char *const way_names[WAYS];

enum way way_of(const char *name);

/* The client and its host. Threads may share it. */
struct caller {
	struct node node;
	char *address; /* of the host, and of its node */
	in_port_t port;
	unsigned int ahead; /* how many, for AHEAD */
};

struct call {
	struct ibv_qp *qp;
	struct start_remote memory;		 /* struct host_memory */
	int fd;					 /* PLAIN: what was said there ends the call, too */
	struct wv_service_connection *as_client; /* else NULL */
};

void caller_open(struct caller *caller, const struct options *options, unsigned int ahead);
void call_make(struct call *call, const struct caller *caller, enum way way);
void call_end(struct call *call);
