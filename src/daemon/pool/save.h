/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has recipes written to disk, and their files removed, in the order in which that becomes due. A
 * worker does, since a disk may be slow or hang.
 */
#pragma once

#include "daemon/loop/workers.h"
#include "store/catalog.h"
#include "store/store.h"

#include <systemd/sd-event.h>

/* So many orders may wait before no further recipe is taken. Each holds a copy of its recipe. */
#define WV_MAX_SAVES 16

struct wv_saver {
	/* Set by the owner before wv_saver_start(); all of it outlives the saver. */
	sd_event *event;
	struct wv_workers *workers;
	struct wv_catalog *catalog;
	struct wv_store *store;
	/* Orders were carried out: there is room for others. */
	void (*done)(void *arg);
	void *arg;

	struct wv_line *line; /* NULL: not started */
	/* The workers' store, with a descriptor of its own. It may outlive the saver. */
	struct wv_store *disk;
	int64_t retry_us;    /* saving failed: no attempt before this time */
	int64_t counters_us; /* counters are saved next at this time */
};

/* 0 or -errno. */
int wv_saver_start(struct wv_saver *s);

/*
 * Saves everything that has changed, whatever the time, and stops. Gives up at the first failure,
 * and after @timeout_us in all; says so then. Harmless if the saver was not started.
 */
void wv_saver_stop(struct wv_saver *s, int64_t timeout_us);

/* Has one recipe that is due saved. True if it did. */
bool wv_save_one(struct wv_saver *s);

/* @recipe is dropped: has its file removed. */
void wv_save_drop(struct wv_saver *s, const struct wv_recipe *recipe);
