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

	bool changed;	 /* the targets may be out of date */
	int64_t next_us; /* no plan before this time of the loop's clock */
};

/* After so many microseconds without use a pool is halved. */
int64_t wv_idle_us(const struct wv_planner *p);

/* Something changed that targets depend on: demand, pools, recipes, devices, or time passed. */
void wv_plan_changed(struct wv_planner *p);

/*
 * Sets the target of each pool, if something changed. Planning takes at most a part of the loop's
 * time, however often things change: else `changed` stays set, and the next attempt is of use after
 * `next_us`. If memory is short, the targets stay as they were.
 */
void wv_plan_pools(struct wv_planner *p);

/* The device on which @recipe can be carried out now, or NULL. Valid until the next scan. */
const struct wv_device *wv_device_of(const struct wv_planner *p, const struct wv_recipe *recipe);

/*
 * What leases that are made, wait or are closed take up: those of the tenant of @only, or of all if
 * @only is NULL.
 */
struct wv_use wv_use_of(const struct wv_planner *p, const struct wv_user *only);
