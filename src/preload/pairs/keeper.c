/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/keeper.h"

#include "base/backoff.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/worker.h"
#include "preload/pairs/keeper_sock.h"
#include "preload/pairs/partner.h"
#include "preload/pairs/server_end.h"
#include "preload/stock/stock.h"

#include <errno.h>
#include <poll.h>

#define LOOK_MS	   5000 /* checks what the program or a child has closed or destroyed unseen */
#define PAUSE_MS   100	/* before the daemon is tried again (base/backoff.h) */
#define LONGEST_MS 64000

static int work(void);
static void leave(void);

static struct wv_worker keeper = {.work = work, .interrupt = leave, .keeps_ms = LONGEST_MS};

/* It runs as long as there are spares, or may soon be. */
static struct wv_worker *maker;

/* Hears all that has come. Returns how much, or -errno. */
static int hear_all(void)
{
	struct wv_pair_note note;
	int got, err = 0, n = 0;

	while (!err && (got = wv_keeper_receive(&note)) > 0) {
		err = wv_server_end_hear(&note);
		wv_worker_call(maker); /* there may be a spare less, or one to be destroyed */
		n += !err;
	}
	return err ?: got < 0 ? got : n;
}

/* Whether there are, or may soon be, ends of pairs. */
static bool is_needed(void)
{
	return wv_worker_runs(maker) || wv_server_end_any();
}

/*
 * Until one side ends it, or it is of no more use. Returns whether the daemon has said anything
 * that makes sense.
 */
static bool talk(int sock)
{
	struct pollfd file = {.fd = sock, .events = POLLIN};
	bool heard = false;
	int got = 0;

	while (got >= 0 && !wv_worker_is_to_end(&keeper) && is_needed()) {
		poll(&file, 1, LOOK_MS);
		wv_server_end_tell();
		got = hear_all();
		heard = heard || got > 0;
	}
	if (!wv_keeper_has_lost(got))
		wv_keeper_shut();
	return heard;
}

/* A connection. */
static int work(void)
{
	static unsigned int failures;
	int sock = wv_keeper_connect();

	if (sock >= 0 && talk(sock))
		failures = 0;
	if (wv_server_end_lose() && !wv_worker_is_to_end(&keeper))
		wv_worker_call(maker);
	return is_needed() ? (int)wv_backoff(PAUSE_MS, LONGEST_MS, ++failures) : -1;
}

/* What was noted is said first: that an end is used, for one. */
static void leave(void)
{
	wv_server_end_tell();
	wv_keeper_shut();
}

void wv_keeper_start(struct wv_worker *maker_of_spares)
{
	if (!wv_client_allows_pairs())
		return;
	wv_stock_lock();
	wv_shapes_number();
	wv_stock_unlock();
	if (!maker)
		maker = maker_of_spares;
	wv_worker_call(&keeper);
}
