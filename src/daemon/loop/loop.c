/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/loop/loop.h"

#include <errno.h>
#include <time.h>

/* Without memory the loop would do nothing else than find that out. */
static const struct timespec pause_without_memory = {.tv_nsec = 10000000};

int wv_loop_turn(sd_event *event, uint64_t timeout_us)
{
	int result = sd_event_run(event, timeout_us);

	if (result != -ENOMEM)
		return result;
	nanosleep(&pause_without_memory, NULL);
	return 1;
}

int wv_loop_run(sd_event *event)
{
	int result = 0;

	while (result >= 0 && sd_event_get_state(event) != SD_EVENT_FINISHED)
		result = wv_loop_turn(event, UINT64_MAX);
	return result < 0 ? result : 0;
}

int64_t wv_now(sd_event *event)
{
	uint64_t now = 0;

	sd_event_now(event, CLOCK_MONOTONIC, &now);
	return (int64_t)now;
}

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

int64_t wv_steady_clock(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t wv_up_clock(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

int64_t wv_cpu_clock(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t wv_wall_clock(void)
{
	return (uint64_t)time(NULL);
}

int wv_timer_add(sd_event *event, enum wv_priority priority, uint64_t accuracy_us,
		 sd_event_time_handler_t handler, void *data, sd_event_source **timer)
{
	int err = sd_event_add_time(event, timer, CLOCK_MONOTONIC, 0, accuracy_us, handler, data);

	if (err >= 0)
		err = sd_event_source_set_priority(*timer, priority);
	if (err >= 0)
		err = sd_event_source_set_enabled(*timer, SD_EVENT_OFF);
	return err < 0 ? err : 0;
}

void wv_timer_arm(sd_event_source *timer, int64_t due_us)
{
	sd_event_source_set_time(timer, (uint64_t)due_us);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

void wv_timer_hasten(sd_event_source *timer, int64_t due_us)
{
	int enabled = SD_EVENT_OFF;
	uint64_t set_us = 0;

	sd_event_source_get_enabled(timer, &enabled);
	sd_event_source_get_time(timer, &set_us);
	if (enabled == SD_EVENT_OFF || set_us > (uint64_t)due_us)
		wv_timer_arm(timer, due_us);
}
