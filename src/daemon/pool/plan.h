/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Applies the policy (policy.h) to the pools of all recipes.
 */
#pragma once

#include "daemon/config/config.h"
#include "daemon/devices/devices.h"
#include "daemon/pool/build.h"
#include "daemon/pool/policy.h"
#include "store/catalog.h"

#include <systemd/sd-event.h>

struct wv_planner {
	/* Set by the owner; all of it outlives the planner. */
	sd_event *event;
	const struct wv_config *config;
	struct wv_catalog *catalog;
	const struct wv_devices *devices;
	struct wv_builders *builders;
	struct wv_limits limits;
	char kernel[65]; /* release of the running kernel */
	/* How many leases of @recipe programs have requested; 0: nobody did. */
	uint32_t (*requested)(void *arg, const struct wv_recipe *recipe);
	void *arg;
};

/* After so many microseconds without use a pool is halved. */
int64_t wv_idle_us(const struct wv_planner *p);

/* Sets the target of each pool. If memory is short, the targets stay as they were. */
void wv_plan_pools(struct wv_planner *p);

/* The device on which @recipe can be carried out now, or NULL. Valid until the next scan. */
const struct wv_device *wv_device_of(const struct wv_planner *p, const struct wv_recipe *recipe);

/*
 * What the leases that wait or are being made take up: those of @only, or of all users if @only is
 * NULL.
 */
struct wv_use wv_use_of(const struct wv_planner *p, const struct wv_user *only);
