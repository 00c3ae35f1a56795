/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides when recipes are written to disk.
 */
#pragma once

#include "store/catalog.h"
#include "store/store.h"

#include <systemd/sd-event.h>

struct wv_saver {
	/* Set by the owner; all of it outlives the saver. */
	sd_event *event;
	struct wv_catalog *catalog;
	struct wv_store *store;

	int64_t retry_us;    /* saving failed: no attempt before this time */
	int64_t counters_us; /* counters are saved next at this time */
};

/* Saves one recipe that is due. True if it did. */
bool wv_save_one(struct wv_saver *s);

/* Saves everything that has changed, whatever the time; gives up at the first failure. */
void wv_save_all(struct wv_saver *s);
