/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services: processes that offer queue pairs under a name, processes that are connected to them,
 * and the connections, of which one end may be on another node (wire/service_note.h).
 *
 * A process, or a peer, may end only connections of which one end is its own. A service is there
 * for its own user and for those that it names, and absent for everybody else. Users of two nodes
 * are the same if their names are.
 */
#pragma once

#include "daemon/loop/loop.h"
#include "daemon/peers/peers.h"
#include "daemon/peers/user_names.h"
#include "daemon/services/conn_table.h"
#include "daemon/tenants/tenant.h"
#include "wire/service_note.h"

#define WV_SERVICE_CLIENTS  4096  /* of a service; nodes, and users of this one, share them */
#define WV_SERVICE_WAITING  64	  /* questions of a process that cannot be passed on yet */
#define WV_SERVICE_AGAIN_US 10000 /* until what could not be done is tried again */

/* A process that offers a service, or is connected to some, or both. */
struct wv_service_process {
	LIST_ENTRY(wv_service_process) link;
	int sock;
	uid_t uid;
	const struct wv_tenant *tenant;
	bool is_deaf; /* it has not read, in this round of telling again */
	LIST_HEAD(, wv_service_conn) as_client, as_service;
	unsigned int n_as_client, n_as_service;
	unsigned int n_waiting; /* of @as_client */
	/* What it offers: */
	char name[WV_SERVICE_NAME];  /* of the service; "": nothing */
	char users[WV_SERVICE_DATA]; /* who may use it, too, with commas between them */
	uint64_t offer;		     /* its own number of the offer */
	bool is_offered;	     /* it was told that it may be asked */
	struct wv_allowance asks;    /* not of time: of questions */
};

struct wv_services {
	/* Set by the owner before wv_services_start(); all of it outlives the services. */
	sd_event *event;
	struct wv_peers *peers;
	struct wv_user_names *names;

	LIST_HEAD(, wv_service_process) processes;
	struct wv_conn_table conns;
	sd_event_source *again; /* does what could not be done yet */
};

#define each_process(s, process) LIST_FOREACH (process, &(s)->processes, link)

/* Something could not be done yet: it is tried again. */
static inline void wv_services_try_again(struct wv_services *s)
{
	wv_timer_hasten(s->again, wv_steady_clock() + WV_SERVICE_AGAIN_US);
}
