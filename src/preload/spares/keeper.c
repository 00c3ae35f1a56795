/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/keeper.h"

#include "base/backoff.h"
#include "base/base.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/own_thread.h"
#include "preload/spares/keeper_sock.h"
#include "preload/spares/kept_pairs.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <time.h>

#define LOOK_MS	   5000 /* checks whether the program has closed the socket unseen */
#define PAUSE_MS   100	/* before the daemon is tried again (base/backoff.h) */
#define LONGEST_MS 64000

static bool running, stopped;

static bool is_stopped(void)
{
	return __atomic_load_n(&stopped, __ATOMIC_RELAXED);
}

/* Makes no more system calls: a sandbox may forbid them. */
static void rest(void)
{
	sem_t never;

	sem_init(&never, 0, 0);
	for (;;)
		sem_wait(&never);
}

/* Hears all that has come. Returns how much, or -errno. */
static int hear_all(void)
{
	struct wv_pair_note note;
	int got, n = 0;

	while ((got = wv_keeper_receive(&note)) > 0) {
		if (!wv_kept_pairs_hear(&note))
			return -EPROTO;
		wv_keeper_flush();
		n++;
	}
	return got < 0 ? got : n;
}

/* Until one side ends it. Returns whether the daemon has said anything that makes sense. */
static bool talk(int sock)
{
	struct pollfd file = {.fd = sock, .events = POLLIN};
	bool heard = false;
	int got = 0;

	while (got >= 0) {
		poll(&file, 1, LOOK_MS);
		if (is_stopped())
			rest();
		got = hear_all();
		heard = heard || got > 0;
	}
	if (got != -ECONNRESET)
		wv_keeper_shut();
	return heard;
}

static void *run(void *unused)
{
	unsigned int failures = 0;

	for (;;) {
		int sock = wv_keeper_connect();

		if (sock >= 0 && talk(sock))
			failures = 0;
		wv_kept_pairs_lose();
		usleep(1000 * (useconds_t)wv_backoff(PAUSE_MS, LONGEST_MS, ++failures));
		if (is_stopped())
			rest();
	}
	return unused;
}

void wv_keeper_start(void)
{
	if (running || is_stopped() || !wv_client_allows_pairs())
		return;
	running = true;
	if (wv_own_thread_start(run))
		wv_keeper_stop();
}

void wv_keeper_stop(void)
{
	if (!__atomic_exchange_n(&stopped, true, __ATOMIC_RELAXED))
		wv_kept_pairs_stop();
}

void wv_keeper_forked(void)
{
	running = false;
	wv_keeper_sock_forked();
}
