/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/loop/log_thread.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/thread.h"

#include <stdio.h>
#include <time.h>

#define CAPACITY   128
#define PATIENCE_S 2

struct message {
	enum wv_log_level level;
	char text[WV_LOG_MAX];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct message ring[CAPACITY];
	unsigned int first, n;
	unsigned long n_lost; /* since the last message that found room */
	bool running, stopping;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void append(enum wv_log_level level, const char *text)
{
	struct message *m = &queue.ring[(queue.first + queue.n++) % CAPACITY];

	m->level = level;
	snprintf(m->text, sizeof(m->text), "%s", text);
}

/* Called by wv_log(), in any thread. */
static void enqueue(enum wv_log_level level, const char *text)
{
	char lost[64];

	pthread_mutex_lock(&queue.lock);
	if (queue.n + 1 >= CAPACITY) {
		queue.n_lost++;
	} else {
		snprintf(lost, sizeof(lost), "%lu messages were lost here", queue.n_lost);
		if (queue.n_lost)
			append(WV_WARNING, lost);
		queue.n_lost = 0;
		append(level, text);
		pthread_cond_broadcast(&queue.changed);
	}
	pthread_mutex_unlock(&queue.lock);
}

/* Called with the lock held. The place in the ring stays taken while it is written. */
static void write_first(void)
{
	const struct message *m = &queue.ring[queue.first];

	pthread_mutex_unlock(&queue.lock);
	wv_log_write(m->level, m->text);
	pthread_mutex_lock(&queue.lock);
	queue.first = (queue.first + 1) % CAPACITY;
	queue.n--;
	pthread_cond_broadcast(&queue.changed);
}

static void *work(void *arg)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.n || !queue.stopping) {
		if (queue.n)
			write_first();
		else
			pthread_cond_wait(&queue.changed, &queue.lock);
	}
	queue.running = false;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	return arg;
}

int wv_log_thread_start(void)
{
	pthread_condattr_t steady;
	pthread_t thread;
	int err;

	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&queue.changed, &steady);
	pthread_condattr_destroy(&steady);
	queue.running = true;
	err = wv_thread_start(&thread, work, NULL);
	if (err) {
		queue.running = false;
		return err;
	}
	pthread_detach(thread);
	wv_log_divert(enqueue);
	return 0;
}

void wv_log_thread_stop(void)
{
	struct timespec until;
	int err = 0;

	wv_log_divert(NULL);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&queue.lock);
	queue.stopping = true;
	if (queue.running)
		pthread_cond_broadcast(&queue.changed);
	while (queue.running && !err)
		err = pthread_cond_timedwait(&queue.changed, &queue.lock, &until);
	pthread_mutex_unlock(&queue.lock);
}
