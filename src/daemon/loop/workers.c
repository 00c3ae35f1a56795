/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/loop/workers.h"

#include "base/base.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#define KEPT_IDLE 2 /* threads that no line owns, beyond those at work */

STAILQ_HEAD(works, wv_work);

struct wv_line {
	STAILQ_ENTRY(wv_line) link;
	struct wv_workers *workers;
	struct wv_line_options options;
	int ended_fd; /* an eventfd */
	sd_event_source *source;
	/* Guarded by the lock of the workers: */
	struct works waiting, ended;
	unsigned int n_given; /* see wv_line_busy() */
	unsigned int n_running;
	bool closed;
};

struct wv_workers {
	sd_event *event;
	pthread_mutex_t lock;
	pthread_cond_t given, ended;
	/* Guarded by the lock: */
	STAILQ_HEAD(, wv_line) lines;
	unsigned int n_threads;
	unsigned int n_owned; /* by lines */
	unsigned int n_lent;  /* at work for lines whose own threads are all at work */
	bool stopping, left_behind;
};

static struct wv_work *take(struct works *works)
{
	struct wv_work *work = STAILQ_FIRST(works);

	if (work)
		STAILQ_REMOVE_HEAD(works, link);
	return work;
}

/* All functions with _locked in their names are called with the lock held. */
static struct wv_line *waiting_line_locked(struct wv_workers *w, unsigned int n_not_owned)
{
	struct wv_line *line;

	STAILQ_FOREACH(line, &w->lines, link)
	{
		bool own = line->n_running < line->options.own;

		if (!STAILQ_EMPTY(&line->waiting) && line->n_running < line->options.most &&
		    (own || w->n_lent < n_not_owned))
			return line;
	}
	return NULL;
}

static struct wv_line *next_line_locked(struct wv_workers *w)
{
	unsigned int n_not_owned = w->n_threads > w->n_owned ? w->n_threads - w->n_owned : 0;

	return waiting_line_locked(w, n_not_owned);
}

static void free_line(struct wv_line *line)
{
	close(line->ended_fd);
	free(line);
}

static void free_workers(struct wv_workers *w)
{
	pthread_cond_destroy(&w->given);
	pthread_cond_destroy(&w->ended);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void end_locked(struct wv_line *line, struct wv_work *work)
{
	struct wv_workers *w = line->workers;

	w->n_lent -= line->n_running > line->options.own;
	line->n_running--;
	if (work)
		STAILQ_INSERT_TAIL(&line->ended, work, link);
	else
		line->n_given--;
	if (line->closed && !line->n_running) {
		STAILQ_REMOVE(&w->lines, line, wv_line, link);
		free_line(line);
	} else if (!line->closed) {
		pthread_cond_broadcast(&w->ended);
		if (work)
			eventfd_write(line->ended_fd, 1);
	}
}

static bool call_thread_locked(struct wv_workers *w);

static void run_one_locked(struct wv_line *line)
{
	struct wv_workers *w = line->workers;
	struct wv_work *work = take(&line->waiting);
	const struct wv_work kept = *work;

	w->n_lent += line->n_running++ >= line->options.own;
	/* For the next: threads that were called before may be one. */
	if (call_thread_locked(w))
		pthread_cond_signal(&w->given);
	pthread_mutex_unlock(&w->lock);
	kept.run(work);
	pthread_mutex_lock(&w->lock);
	if (line->closed && kept.left)
		kept.left(work);
	end_locked(line, kept.done && !line->closed ? work : NULL);
}

static bool is_needed_locked(const struct wv_workers *w)
{
	return !w->stopping && w->n_threads <= w->n_owned + w->n_lent + KEPT_IDLE;
}

static void *work(void *arg)
{
	struct wv_workers *w = arg;
	struct wv_line *line;
	bool last;

	pthread_mutex_lock(&w->lock);
	while ((line = next_line_locked(w)) || is_needed_locked(w)) {
		if (line)
			run_one_locked(line);
		else
			pthread_cond_wait(&w->given, &w->lock);
	}
	last = !--w->n_threads && w->left_behind;
	pthread_cond_broadcast(&w->ended);
	pthread_mutex_unlock(&w->lock);
	if (last)
		free_workers(w);
	return NULL;
}

static int add_thread_locked(struct wv_workers *w)
{
	pthread_t thread;
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, work, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	pthread_detach(thread);
	w->n_threads++;
	return 0;
}

/*
 * Has a thread look for what waits: true if the caller is to wake one. If there can be no more
 * threads, those that there are do the work later.
 */
static bool call_thread_locked(struct wv_workers *w)
{
	if (next_line_locked(w))
		return true;
	if (waiting_line_locked(w, UINT32_MAX))
		add_thread_locked(w);
	return false;
}

int wv_workers_start(struct wv_workers **workers, sd_event *event)
{
	struct wv_workers *w = calloc(1, sizeof(*w));
	pthread_condattr_t steady;

	if (!w)
		return -ENOMEM;
	w->event = event;
	STAILQ_INIT(&w->lines);
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&w->given, &steady);
	pthread_cond_init(&w->ended, &steady);
	pthread_condattr_destroy(&steady);
	*workers = w;
	return 0;
}

void wv_workers_stop(struct wv_workers *w)
{
	bool last;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_broadcast(&w->given);
	while (w->n_threads > w->n_lent) /* closed lines own nothing */
		pthread_cond_wait(&w->ended, &w->lock);
	w->left_behind = w->n_threads;
	last = !w->n_threads;
	pthread_mutex_unlock(&w->lock);
	if (last)
		free_workers(w);
}

static struct wv_work *next_ended(struct wv_line *line)
{
	struct wv_work *work;

	pthread_mutex_lock(&line->workers->lock);
	work = take(&line->ended);
	if (work)
		line->n_given--;
	pthread_mutex_unlock(&line->workers->lock);
	return work;
}

/* Of @n at most: where @done gives the next work, there may be no end to it. */
static void call_done(struct wv_line *line, uint64_t n)
{
	struct wv_work *work;

	for (; n && (work = next_ended(line)); n--)
		work->done(work);
}

static int on_ended(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct wv_line *line = data;
	eventfd_t n = 0;

	(void)source;
	(void)events;
	eventfd_read(fd, &n); /* before the list, so that what ends from now on is seen */
	call_done(line, n);
	if (line->options.settled)
		line->options.settled(line->options.arg);
	return 0;
}

static int watch(struct wv_line *line, sd_event *event)
{
	int err = sd_event_add_io(event, &line->source, line->ended_fd, EPOLLIN, on_ended, line);

	return err < 0 ? err : sd_event_source_set_priority(line->source, line->options.priority);
}

static int start_threads(struct wv_line *line)
{
	struct wv_workers *w = line->workers;
	int err = 0;

	pthread_mutex_lock(&w->lock);
	STAILQ_INSERT_TAIL(&w->lines, line, link);
	w->n_owned += line->options.own;
	while (w->n_threads < w->n_owned && !err)
		err = add_thread_locked(w);
	pthread_mutex_unlock(&w->lock);
	return err;
}

int wv_line_open(struct wv_workers *w, const struct wv_line_options *options, struct wv_line **line)
{
	struct wv_line *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->workers = w;
	l->options = *options;
	STAILQ_INIT(&l->waiting);
	STAILQ_INIT(&l->ended);
	l->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->ended_fd < 0) {
		free(l);
		return -errno;
	}
	err = start_threads(l);
	if (err >= 0)
		err = watch(l, w->event);
	if (err < 0)
		wv_line_close(&l, 0);
	*line = l;
	return err < 0 ? err : 0;
}

void wv_line_give(struct wv_line *line, struct wv_work *work)
{
	struct wv_workers *w = line->workers;
	bool wake;

	pthread_mutex_lock(&w->lock);
	STAILQ_INSERT_TAIL(&line->waiting, work, link);
	line->n_given++;
	wake = call_thread_locked(w);
	pthread_mutex_unlock(&w->lock);
	if (wake) /* only now, or the thread that wakes would wait for the lock */
		pthread_cond_signal(&w->given);
}

unsigned int wv_line_busy(struct wv_line *line)
{
	unsigned int n;

	pthread_mutex_lock(&line->workers->lock);
	n = line->n_given;
	pthread_mutex_unlock(&line->workers->lock);
	return n;
}

static struct timespec in(int64_t us)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += us % 1000000 * 1000;
	t.tv_sec += us / 1000000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Until a work has ended whose @done is to be called; or, if @all, until none waits or runs. */
static void await(struct wv_line *line, bool all, int64_t patience_us)
{
	struct timespec until = in(patience_us);
	struct wv_workers *w = line->workers;
	int err = 0;

	pthread_mutex_lock(&w->lock);
	while (!err && (all ? line->n_running || !STAILQ_EMPTY(&line->waiting)
			    : line->n_given && STAILQ_EMPTY(&line->ended)))
		err = pthread_cond_timedwait(&w->ended, &w->lock, &until);
	pthread_mutex_unlock(&w->lock);
}

void wv_line_await(struct wv_line *line, int64_t patience_us)
{
	await(line, false, patience_us);
	call_done(line, UINT64_MAX);
}

/* The line owns no thread from now on, and what it runs is left behind. */
static unsigned int close_locked(struct wv_line *line)
{
	struct wv_workers *w = line->workers;
	unsigned int n = line->n_running, own = line->options.own;

	line->closed = true;
	w->n_owned -= own;
	w->n_lent += n < own ? n : own;
	line->options.own = 0;
	if (!n)
		STAILQ_REMOVE(&w->lines, line, wv_line, link);
	pthread_cond_broadcast(&w->given); /* more threads than needed */
	return n;
}

unsigned int wv_line_close(struct wv_line **line, int64_t patience_us)
{
	struct wv_line *l = *line;
	struct works unrun;
	struct wv_work *work;
	unsigned int n;

	*line = NULL;
	if (!l)
		return 0;
	await(l, true, patience_us);
	l->source = sd_event_source_disable_unref(l->source);
	pthread_mutex_lock(&l->workers->lock);
	STAILQ_INIT(&unrun);
	STAILQ_CONCAT(&unrun, &l->ended);
	STAILQ_CONCAT(&unrun, &l->waiting);
	n = close_locked(l);
	pthread_mutex_unlock(&l->workers->lock);
	while ((work = take(&unrun)))
		if (work->done)
			work->done(work);
	if (!n)
		free_line(l);
	return n;
}
