/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices devices that come and go, and keeps the list of devices and the providers file current.
 *
 * The kernel removes a device's node first and then waits until all of its ufiles are closed. So
 * a lease that is closed when the node vanishes never delays the removal.
 */
#pragma once

#include "daemon/devices/devices.h"

#include <systemd/sd-event.h>

struct wv_watch {
	/* Set by the owner before wv_watch_start(); all of it outlives the watch. */
	sd_event *event;
	struct wv_devices *devices; /* scanned once already; updated from then on */
	wv_scan_fn scan;	    /* wv_devices_scan() */
	struct wv_scan_options options;
	const char *run_dir; /* directory of the providers file */
	/* @device is being removed, or may have been: its leases must be closed now. */
	void (*gone)(void *arg, const struct wv_device *device);
	/* The devices were scanned again: what failed before may work now. */
	void (*rescanned)(void *arg);
	void *arg;

	/* The watch's own. */
	sd_event_source *dev_source, *node_source, *rescan_timer;
	unsigned int rescans_left;
	bool announced;
};

/* Starts to watch, scans, and writes the providers file once a scan succeeded. 0 or -errno. */
int wv_watch_start(struct wv_watch *w);

/* Stops watching. Harmless if the watch was not started. */
void wv_watch_stop(struct wv_watch *w);
