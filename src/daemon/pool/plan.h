/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Applies the policy (policy.h) to the pools of all recipes.
 */
#pragma once

#include "daemon/config/config.h"
#include "daemon/devices/devices.h"
#include "daemon/pool/policy.h"
#include "daemon/tenants/tenant.h"
#include "store/catalog.h"

#include <systemd/sd-event.h>

struct wv_planner {
	/* Set by the owner; all of it outlives the planner. */
	sd_event *event;
	const struct wv_config *config;
	struct wv_catalog *catalog;
	const struct wv_devices *devices;
	const struct wv_tenants *tenants;
	struct wv_limits limits;
	char kernel[65]; /* release of the running kernel */
	/* How many leases of @recipe programs have requested; 0: nobody did. */
	uint32_t (*requested)(void *arg, const struct wv_recipe *recipe);
	void *arg;

	/*
	 * The targets may be out of date: demand, pools, recipes or devices changed, or time
	 * passed.
	 */
	bool changed;
	int64_t next_us; /* no plan before this time of the loop's clock */
};

/* After so many microseconds without use a pool is halved. */
int64_t wv_idle_us(const struct wv_planner *p);

/*
 * Sets the target of each pool, if something changed. Planning takes at most a part of the loop's
 * time, however often things change: else `changed` stays set, and the next attempt is of use after
 * `next_us`. If memory is short, the targets stay as they were.
 */
void wv_plan_pools(struct wv_planner *p);

/* The device on which @recipe can be carried out now, or NULL. Valid until the next scan. */
const struct wv_device *wv_device_of(const struct wv_planner *p, const struct wv_recipe *recipe);
