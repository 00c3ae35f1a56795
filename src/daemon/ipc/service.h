/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What requests of clients are served from, and what is counted of them.
 */
#pragma once

#include "daemon/devices/constants.h"
#include "daemon/devices/devices.h"
#include "daemon/pool/build.h"
#include "daemon/pool/handed_out.h"
#include "daemon/pool/plan.h"
#include "daemon/pool/scheduler.h"
#include "daemon/tenants/closer.h"
#include "store/catalog.h"

/* Events that are counted but not logged one by one. */
struct wv_tally {
	uint64_t accepted;
	uint64_t malformed; /* connections closed because of what they sent */
	uint64_t silent;    /* connections closed because they sent nothing */
	uint64_t over_limit;
	uint64_t denied; /* requests without a right to the device */
};

struct wv_client;
struct wv_pairs;
struct wv_peers;
struct wv_services;

struct wv_service {
	/* Set by the owner; all of it outlives the service. */
	sd_event *event;
	struct wv_workers *workers;
	struct wv_catalog *catalog;
	const struct wv_devices *devices;
	struct wv_all_constants *constants;
	struct wv_planner *planner;
	struct wv_scheduler *scheduler;
	struct wv_builders *builders;
	struct wv_closer *closer;
	struct wv_handed_out *handed_out;
	struct wv_pairs *pairs;	      /* NULL: there are none */
	const struct wv_peers *peers; /* NULL: the build has none */
	struct wv_services *services; /* the same */
	const char *socket;	      /* path, for answers */
	int64_t start_us;
	uint32_t max_in_flight;
	uint32_t answer_flags; /* enum wv_answer_flag, of each answer to a request */

	LIST_HEAD(, wv_client) pool_requests; /* clients whose pool request stands */
	unsigned int n_clients;
	uint32_t in_flight; /* descriptors in answers that were not read yet */
	struct wv_tally tally;
	struct wv_counters totals; /* of all recipes since the start */
};
