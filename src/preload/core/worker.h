/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread of this library in a program's process, and the only kind of thread that it starts. It
 * exists while there is something to do, and ends when there is nothing for a while; what it works
 * on stays, and the next call starts it again. It has no part in what the program arranges for its
 * own threads: it blocks all signals, and does not take over the policy and processors of the
 * thread that happens to start it.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct wv_worker {
	/*
	 * Called again and again. Returns after how many ms it is to be called next, if there is no
	 * wv_worker_call() before; -1: there is nothing to do until then.
	 */
	int (*work)(void);
	/* Makes a work() that waits for something return; may be NULL. Called by any thread. */
	void (*interrupt)(void);
	/* A call does not cut a time short that work() has returned, up to this many ms. */
	int keeps_ms;
	/* Only for worker.c. */
	unsigned int mode;
	bool is_listed, is_refused, is_called, is_to_end;
	bool is_overdue; /* it did not end in time: nobody waits for it again */
	pid_t tid;
	pthread_t thread;
	sem_t begun, woken, ended;
	struct wv_worker *next;
};

/*
 * Has the worker work a moment later, so that it does not get in the way of what the program does
 * next. Starts the worker if it does not run. Returns 0, or -errno: there can be no thread.
 */
int wv_worker_call(struct wv_worker *w);

/* Whether the worker runs. */
bool wv_worker_runs(const struct wv_worker *w);

/* Whether the worker is to end: work() returns soon then. */
bool wv_worker_is_to_end(const struct wv_worker *w);

/*
 * Whether the program itself has several threads, and no limit that another one could reach. After
 * wv_workers_forbid(): no, since a sandbox may forbid to look.
 */
bool wv_program_has_threads(void);

/*
 * Ends all workers, and returns when the kernel knows their threads no more. One that waits for a
 * lock of this thread's program, which a signal handler has interrupted, is left after 5 s. Call
 * with no lock held. In a signal handler that interrupts a guarded section (core/guard.h), this
 * only tells them.
 */
void wv_workers_end(void);

/* From now on there are no workers. Those that run will end; this does not wait for them. */
void wv_workers_forbid(void);

/*
 * Around fork(2). The first lock is taken before all others: none is held while workers are waited
 * for. False: it cannot be had in time (core/worker_lock.h). The second one is taken after all
 * others.
 */
bool wv_workers_hold(void);
void wv_workers_let_go(void);
void wv_worker_starts_hold(void);
void wv_worker_starts_let_go(void);
void wv_worker_starts_forked(void);
