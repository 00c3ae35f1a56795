/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that make, use and destroy objects at the same time. The environment variable THREADS:
 * the number of threads, how often each does so, and "shared" if they share one context, else each
 * opens the device itself.
 */
#include "kit.h"

#include <pthread.h>

#define MAX_THREADS 64

static int n_threads = 8, rounds = 6;
static bool shared;
static struct ibv_context *common;
static pthread_barrier_t barrier;

static void one_round(struct ibv_context *context, int thread, int round)
{
	struct pair pair = pair_new(context);
	char text[PAYLOAD];

	snprintf(text, sizeof(text), "thread %d round %d", thread, round);
	pair_send(&pair, text);
	pair_free(&pair);
}

static void *work(void *argument)
{
	int thread = (int)(intptr_t)argument;

	pthread_barrier_wait(&barrier);
	for (int round = 0; round < rounds; round++) {
		struct ibv_context *context = shared ? common : open_device();

		one_round(context, thread, round);
		if (!shared)
			OK(ibv_close_device(context));
	}
	return NULL;
}

static void read_options(void)
{
	const char *text = getenv("THREADS");
	char word[16] = "";

	if (!text)
		return;
	EXPECT(sscanf(text, "%d %d %15s", &n_threads, &rounds, word) >= 2);
	EXPECT(n_threads > 0 && n_threads <= MAX_THREADS);
	shared = !strcmp(word, "shared");
}

int main(void)
{
	pthread_t threads[MAX_THREADS];

	read_options();
	OK(pthread_barrier_init(&barrier, NULL, (unsigned int)n_threads));
	if (shared)
		common = open_device();
	for (int i = 0; i < n_threads; i++)
		OK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i));
	for (int i = 0; i < n_threads; i++)
		OK(pthread_join(threads[i], NULL));
	if (shared)
		OK(ibv_close_device(common));
	printf("%d threads, %d rounds, ok\n", n_threads, rounds);
	return 0;
}
