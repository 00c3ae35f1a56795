/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers: threads for what may take long, so that the loop waits for nothing. Work of one kind
 * stands in a *line*, in the order in which it is given, and a line has threads that no other line
 * takes: a disk that hangs delays only what is to be written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

struct wv_workers;
struct wv_line;

struct wv_work {
	STAILQ_ENTRY(wv_work) link;
	/* Called in a worker, with all signals blocked: signals belong to the loop. */
	void (*run)(struct wv_work *work);
	/*
	 * Called by the loop afterwards, or by wv_line_close(), and then the work may not have run.
	 * From then on the work is the owner's again. NULL: it is so when it begins to run.
	 */
	void (*done)(struct wv_work *work);
	/*
	 * Called in a worker instead of @done if the line was closed meanwhile. NULL: nothing is.
	 */
	void (*left)(struct wv_work *work);
};

struct wv_line_options {
	unsigned int own;  /* threads that no other line takes; at least one */
	unsigned int most; /* works at a time; at least @own */
	int priority;	   /* of the source that calls @done (loop/loop.h) */
	/* Called by the loop when @done was called for what had ended by then; may be NULL. */
	void (*settled)(void *arg);
	void *arg;
};

/* 0 and *@workers, without a thread; or -errno. @event outlives them. */
int wv_workers_start(struct wv_workers **workers, sd_event *event);

/*
 * Ends the threads; all lines are closed. Threads that are held up in a closed line stay behind,
 * and the last of them frees @workers. May be NULL.
 */
void wv_workers_stop(struct wv_workers *workers);

/* Starts the line's own threads. 0 and *@line; or -errno. */
int wv_line_open(struct wv_workers *workers, const struct wv_line_options *options,
		 struct wv_line **line);

/* Has @work run. Any thread may. */
void wv_line_give(struct wv_line *line, struct wv_work *work);

/*
 * How many works were given of which @done, if there is one, was not called yet. Any thread may
 * ask.
 */
unsigned int wv_line_busy(struct wv_line *line);

/* Waits until a work has ended, at most for @patience_us, and calls @done. */
void wv_line_await(struct wv_line *line, int64_t patience_us);

/* What may hang for ever delays the end by so much. */
#define WV_LINE_PATIENCE_US 2000000

/*
 * Waits until all works have run, but no longer than @patience_us, and calls @done of all but those
 * that run even then; their number is the result, and what they use must stay. *@line is NULL then.
 * Harmless if it was.
 */
unsigned int wv_line_close(struct wv_line **line, int64_t patience_us);
