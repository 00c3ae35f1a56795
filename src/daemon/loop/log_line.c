/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/loop/log_line.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"

#include <pthread.h>
#include <stdio.h>

#define CAPACITY 128

struct message {
	enum wv_log_level level;
	char text[WV_LOG_MAX];
};

static void write_all(struct wv_work *work);

static struct {
	struct wv_work work;
	pthread_mutex_t lock;
	/* Guarded by the lock: */
	struct wv_line *line;
	struct message ring[CAPACITY];
	unsigned int first, n;
	unsigned long n_lost; /* since the last message that found room */
	bool writing;
} queue = {.work = {.run = write_all}, .lock = PTHREAD_MUTEX_INITIALIZER};

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
		if (queue.line && !queue.writing) {
			queue.writing = true;
			wv_line_give(queue.line, &queue.work);
		}
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
}

static void write_all(struct wv_work *work)
{
	(void)work;
	pthread_mutex_lock(&queue.lock);
	while (queue.n)
		write_first();
	queue.writing = false;
	pthread_mutex_unlock(&queue.lock);
}

int wv_log_line_open(struct wv_workers *workers)
{
	static const struct wv_line_options options = {
	    .own = 1, .most = 1, .priority = WV_PRIORITY_WORK};
	int err = wv_line_open(workers, &options, &queue.line);

	if (!err)
		wv_log_divert(enqueue);
	return err;
}

void wv_log_line_close(void)
{
	struct wv_line *line = queue.line;

	wv_log_divert(NULL);
	pthread_mutex_lock(&queue.lock); /* for those who are about to give something */
	queue.line = NULL;
	pthread_mutex_unlock(&queue.lock);
	wv_line_close(&line, WV_LINE_PATIENCE_US);
}
