/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event loop: its clocks, its timers and the order of its sources.
 *
 * The daemon has one loop, in one thread. The loop is libsystemd's sd-event: timers, signals,
 * inotify, the watchdog, socket activation and notification come from one library, which is
 * maintained together with the system's service manager. It also has priorities, which "refill when
 * nobody is being served" depends on.
 */
#pragma once

#include <stdint.h>
#include <systemd/sd-event.h>

/* The order in which sources that are ready at the same time are served. */
enum wv_priority {
	WV_PRIORITY_DEVICES = -10, /* removal of a device must not wait for the daemon */
	/* Little work, which must go on where clients never pause. */
	WV_PRIORITY_RESULTS = -5,   /* of threads */
	WV_PRIORITY_OVERDUE = -5,   /* work that was put off long enough */
	WV_PRIORITY_NEWCOMERS = -1, /* clients that connect after a pause */
	WV_PRIORITY_CLIENTS = 0,
	WV_PRIORITY_TIMERS = 10,
	WV_PRIORITY_PEERS = 20, /* other nodes come after this one's programs */
	WV_PRIORITY_WORK = 100, /* when nobody is being served */
};

/*
 * One turn of the loop, which waits for at most @timeout_us. Positive if anything was done, 0 if
 * not, -errno if the loop cannot go on. A lack of memory only delays the next turn.
 */
int wv_loop_turn(sd_event *event, uint64_t timeout_us);

/* Runs the loop until it is told to end: 0; or -errno. */
int wv_loop_run(sd_event *event);

/* The loop's steady clock, in microseconds: the time at which the current iteration began. */
int64_t wv_now(sd_event *event);

/* The same clock, now. Any thread may ask. */
int64_t wv_steady_clock(void);

/* How long the node has been up, pauses included, in microseconds. */
int64_t wv_up_clock(void);

/* The time that the calling thread has used, in microseconds. */
int64_t wv_cpu_clock(void);

/* Seconds since the epoch. */
uint64_t wv_wall_clock(void);

/*
 * Creates a timer that is off. It calls @handler(@data) at most @accuracy_us late; 0 means
 * sd-event's default, a quarter of a second. *@timer belongs to the caller. 0 or -errno.
 */
int wv_timer_add(sd_event *event, enum wv_priority priority, uint64_t accuracy_us,
		 sd_event_time_handler_t handler, void *data, sd_event_source **timer);

/* Makes @timer expire once, at @due_us of wv_now()'s clock; an earlier setting is replaced. */
void wv_timer_arm(sd_event_source *timer, int64_t due_us);

/* Makes @timer expire at @due_us at the latest; an earlier setting stays. */
void wv_timer_hasten(sd_event_source *timer, int64_t due_us);
