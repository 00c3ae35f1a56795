/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices that come while the daemon starts, and scans that fail. The scans are the test's own. */
#include "fixture.h"

#include "base/log.h"
#include "daemon/devices/providers_file.h"
#include "daemon/devices/watch.h"
#include "daemon/loop/loop.h"

#include <stdio.h>
#include <sys/stat.h>

#define MOST_TURNS 5000 /* of a millisecond at least, unless something was done */

static struct wv_devices devices;
static struct wv_watch watch;
static char dir[32];
static struct {
	int error; /* of the next scan */
	unsigned int n_scans, n_rescanned;
	bool watched; /* when the last scan began */
} seen;

/* Finds one device. */
static int scan(struct wv_devices *found, const struct wv_scan_options *options)
{
	int error = seen.error;

	(void)options;
	seen.n_scans++;
	seen.watched = watch.dev_source;
	seen.error = 0;
	if (error)
		return error;
	found->n = 1;
	found->all[0] = (struct wv_device){.leasable = true};
	strcpy(found->all[0].name, "uverbs0");
	strcpy(found->all[0].provider, "/lib/librxe-rdmav34.so");
	return 0;
}

static void rescanned(void *arg)
{
	(void)arg;
	seen.n_rescanned++;
}

static int set_up(void **state)
{
	(void)state;
	wv_log_init(WV_ERROR);
	devices.n = 0;
	memset(&seen, 0, sizeof(seen));
	strcpy(dir, "/tmp/test_watch.XXXXXX");
	assert_non_null(mkdtemp(dir));
	watch = (struct wv_watch){
	    .devices = &devices, .scan = scan, .run_dir = dir, .rescanned = rescanned};
	return sd_event_new(&watch.event);
}

static int tear_down(void **state)
{
	(void)state;
	wv_watch_stop(&watch);
	sd_event_unref(watch.event);
	return remove_tree(dir);
}

/* -1: programs find no list, so they load all providers. */
static off_t bytes_of_list(void)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" WV_PROVIDERS_FILE, dir);
	return stat(path, &st) ? -1 : st.st_size;
}

/* The daemon scanned before it watched, and found nothing. */
static void test_a_device_that_came_before_the_watch(void **state)
{
	(void)state;
	assert_int_equal(wv_watch_start(&watch), 0);
	assert_true(seen.watched);
	assert_int_equal(seen.n_scans, 1);
	assert_int_equal(devices.n, 1);
	assert_true(bytes_of_list() > 0);
}

static void test_a_failed_scan_is_repeated(void **state)
{
	(void)state;
	seen.error = -EMFILE;
	assert_int_equal(wv_watch_start(&watch), 0);
	assert_int_equal(devices.n, 0);
	assert_int_equal(bytes_of_list(), -1);
	for (int i = 0; i < MOST_TURNS && !seen.n_rescanned; i++)
		assert_true(sd_event_run(watch.event, 1000) >= 0);
	assert_int_equal(seen.n_scans, 2);
	assert_int_equal(devices.n, 1);
	assert_true(bytes_of_list() > 0);
}

/* However long it lasts: then at a slow pace. */
static void test_a_scan_that_always_fails(void **state)
{
	uint64_t due = 0;
	int on = SD_EVENT_OFF;

	(void)state;
	assert_int_equal(wv_watch_start(&watch), 0);
	watch.rescans_left = 1;
	seen.error = -EMFILE;
	wv_timer_arm(watch.rescan_timer, 0);
	for (int i = 0; i < MOST_TURNS && !seen.n_rescanned; i++)
		assert_true(sd_event_run(watch.event, 1000) >= 0);
	sd_event_source_get_enabled(watch.rescan_timer, &on);
	sd_event_source_get_time(watch.rescan_timer, &due);
	assert_int_equal(on, SD_EVENT_ONESHOT);
	assert_true(due > (uint64_t)wv_now(watch.event) + 1000000);
	assert_int_equal(devices.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_a_device_that_came_before_the_watch, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(test_a_failed_scan_is_repeated, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_a_scan_that_always_fails, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
