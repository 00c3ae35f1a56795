/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services: processes that offer queue pairs under a name, processes that are connected to them,
 * and the connections, of which one end may be on another node (wire/service_note.h).
 *
 * What a process says of a connection is believed of its own end only. A service is there for its
 * own user and for those that it names, and absent for everybody else. Users of two nodes are the
 * same if their names are.
 */
#pragma once

#include "daemon/peers/peers.h"
#include "daemon/peers/user_names.h"
#include "daemon/services/conn_table.h"
#include "daemon/tenants/tenant.h"
#include "wire/service_note.h"

#define WV_SERVICE_CONNS 65536 /* of all users, who share them */

/* A process that offers a service, or is connected to some, or both. */
struct wv_service_process {
	LIST_ENTRY(wv_service_process) link;
	int sock;
	uid_t uid;
	const struct wv_tenant *tenant;
	bool is_named;		     /* the name of its user was looked up */
	char user[WV_PAIR_USER];     /* "": that has none */
	char name[WV_SERVICE_NAME];  /* of the service that it offers; "": none */
	char users[WV_SERVICE_DATA]; /* who may use it, too, with commas between them */
	uint64_t offer;		     /* its own number of the offer */
	LIST_HEAD(, wv_service_conn) as_client, as_service;
	unsigned int n_conns;
};

struct wv_services {
	/* Set by the owner before wv_services_start(); all of it outlives the services. */
	sd_event *event;
	struct wv_workers *workers;
	struct wv_peers *peers;

	struct wv_user_names *names; /* set by the owner, too; tells wv_service_user_known() */
	LIST_HEAD(, wv_service_process) processes;
	struct wv_conn_table conns;
	sd_event_source *again; /* tells processes that did not read */
};
