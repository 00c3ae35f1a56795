/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of host.c whose threads are connected to it and end that, without a pause: how long N
 * times take. It waits for a line before that, and for the end of its standard input after it, so
 * that others can count what it did meanwhile.
 */
#include "ways.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST	       64 /* that are not counted */
#define AHEAD_OF_CALLS 64

static struct caller caller;
static enum way way;
static unsigned long left;

static void *work(void *unused)
{
	struct call call;

	(void)unused;
	while ((long)__atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) >= 0) {
		call_make(&call, &caller, way);
		call_end(&call);
	}
	return NULL;
}

static void run(unsigned long n, unsigned long threads)
{
	pthread_t *all = made(calloc(threads, sizeof(*all)), "memory");

	left = n;
	for (unsigned long i = 0; i < threads; i++) {
		int err = pthread_create(&all[i], NULL, work, NULL);

		if (err)
			give_up(err, "pthread_create");
	}
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	free(all);
}

static void flush(void)
{
	if (fflush(stdout))
		give_up(errno, "stdout");
}

int main(int argc, char **argv)
{
	struct options options = options_read_words(
	    argc, argv, " THREADS WAY",
	    "Is connected N times (default: 1000) by THREADS, in a WAY (plain, asked, ahead).");
	unsigned long threads = number(options.words[0], 1);
	uint64_t began;

	if (options.n_words != 2)
		give_up(0, "how many THREADS, in which WAY?");
	way = way_of(options.words[1]);
	caller_open(&caller, &options, AHEAD_OF_CALLS);
	run(FIRST, threads);
	print_time("ready", 0);
	flush();
	getchar();
	began = clock_ns();
	run(options.n ?: 1000, threads);
	print_time("took", clock_ns() - began);
	flush();
	while (getchar() != EOF)
		;
	wv_service_release(caller.node.start.pd);
	return 0;
}
