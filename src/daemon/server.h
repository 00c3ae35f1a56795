/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon: composes the modules of its folders and connects them.
 *
 * Modules include and call only what is below them: config and loop, devices, pool, ipc. What a
 * module has to tell one above it goes through a callback that is registered here.
 */
#pragma once

#include "daemon/config/config.h"
#include "daemon/devices/constants.h"
#include "daemon/devices/devices.h"
#include "daemon/devices/watch.h"
#include "daemon/ipc/accept.h"
#include "daemon/ipc/connection.h"
#include "daemon/ipc/listen.h"
#include "daemon/ipc/service.h"
#include "daemon/loop/workers.h"
#include "daemon/pairing.h"
#include "daemon/pool/build.h"
#include "daemon/pool/handed_out.h"
#include "daemon/pool/plan.h"
#include "daemon/pool/save.h"
#include "daemon/pool/scheduler.h"
#include "daemon/tenants/tenant.h"
#include "store/catalog.h"
#include "store/store.h"

struct wv_server {
	/* Filled in by the caller of wv_server_init(). */
	struct wv_config config;
	struct wv_store store;
	struct wv_listener listener;
	struct wv_devices devices;
	wv_issue_fn issue; /* how commands reach the kernel; NULL: wv_issue() */
	wv_scan_fn scan;   /* how devices are found; NULL: wv_devices_scan() */

	sd_event *event;
	struct wv_workers *workers;
	int listen_fd, admin_fd;
	struct wv_tenants tenants;
	struct wv_catalog catalog;
	struct wv_all_constants constants;
	struct wv_watch watch;
	struct wv_planner planner;
	struct wv_handed_out handed_out;
	struct wv_builders builders;
	struct wv_closer closer;
	struct wv_saver saver;
	struct wv_scheduler scheduler;
	struct wv_pairing *pairing;
	struct wv_service service;
	struct wv_connections connections;
	struct wv_acceptor acceptor;
};

/*
 * Prepares @s, of which the caller has filled in the first part, to serve @listen_fd, which becomes
 * the server's, and loads the recipes. The caller then runs the loop. 0; or -errno, and
 * wv_server_finish() is not needed.
 */
int wv_server_init(struct wv_server *s, int listen_fd);

/* Ends all connections and leases, and saves what is unsaved. The store stays the caller's. */
void wv_server_finish(struct wv_server *s);

/* How devices are scanned, as the configuration says; valid as long as @s. */
struct wv_scan_options wv_server_scan_options(const struct wv_server *s);

/* Removes the socket and the providers file, unless the socket belongs to systemd. */
void wv_server_unlisten(const struct wv_server *s);
