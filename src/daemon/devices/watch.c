/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/watch.h"

#include "base/log.h"
#include "daemon/devices/providers_file.h"
#include "daemon/loop/loop.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#define NODE_PARENT   "/dev"
#define NODE_DIR_NAME "infiniband"

/* A device's node appears a little earlier than the rest of the device. */
#define SETTLE_US   50000
#define ACCURACY_US 1000
#define MAX_RESCANS 8

/* Devices cannot be listed, for example for want of descriptors, and that lasts. */
#define LIST_AGAIN_US 10000000

static void rescan_soon(struct wv_watch *w, int64_t after_us)
{
	wv_timer_arm(w->rescan_timer, wv_now(w->event) + after_us);
}

static void on_node_gone(struct wv_watch *w, const char *name)
{
	const struct wv_device *device = wv_devices_by_name(w->devices, name);

	if (!device)
		return;
	w->gone(w->arg, device);
	wv_log(WV_NOTICE, "%s (%s) is being removed: its leases are closed", device->ibdev, name);
}

/* Events were lost, so any device may be gone. */
static void on_overflow(struct wv_watch *w)
{
	for (unsigned int i = 0; i < w->devices->n; i++)
		w->gone(w->arg, &w->devices->all[i]);
}

static int on_node_event(sd_event_source *source, const struct inotify_event *event, void *data)
{
	struct wv_watch *w = data;

	(void)source;
	if (event->mask & (IN_DELETE | IN_MOVED_FROM) && event->len)
		on_node_gone(w, event->name);
	if (event->mask & IN_Q_OVERFLOW)
		on_overflow(w);
	if (event->mask & IN_IGNORED) /* the directory itself is gone */
		w->node_source = sd_event_source_disable_unref(w->node_source);
	w->rescans_left = MAX_RESCANS;
	rescan_soon(w, SETTLE_US);
	return 0;
}

static void watch_nodes(struct wv_watch *w)
{
	int err;

	if (w->node_source)
		return;
	err = sd_event_add_inotify(w->event, &w->node_source, WV_NODE_DIR,
				   IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVE | IN_ONLYDIR,
				   on_node_event, w);
	if (err >= 0)
		sd_event_source_set_priority(w->node_source, WV_PRIORITY_DEVICES);
	else if (err != -ENOENT)
		wv_log(WV_WARNING,
		       "%s cannot be watched: %s: removal of a device will wait until "
		       "its leases are used up",
		       WV_NODE_DIR, strerror(-err));
}

static int on_dev_event(sd_event_source *source, const struct inotify_event *event, void *data)
{
	struct wv_watch *w = data;

	(void)source;
	if (event->len && strcmp(event->name, NODE_DIR_NAME))
		return 0;
	w->rescans_left = MAX_RESCANS;
	rescan_soon(w, SETTLE_US);
	return 0;
}

static bool is_settled(const struct wv_devices *devices)
{
	for (unsigned int i = 0; i < devices->n; i++)
		if (!*devices->all[i].provider)
			return false;
	return true;
}

static bool same_device(const struct wv_device *a, const struct wv_device *b)
{
	return a->rdev == b->rdev && a->driver_id == b->driver_id && !strcmp(a->name, b->name) &&
	       !strcmp(a->ibdev, b->ibdev) && !strcmp(a->provider, b->provider);
}

static bool same_devices(const struct wv_devices *a, const struct wv_devices *b)
{
	for (unsigned int i = 0; i < a->n && i < b->n; i++)
		if (!same_device(&a->all[i], &b->all[i]))
			return false;
	return a->n == b->n;
}

static void announce(struct wv_watch *w)
{
	int err = wv_providers_write(w->devices, w->run_dir);

	w->announced = true;
	if (err)
		wv_log(WV_WARNING, "%s/%s cannot be written: %s: programs load every provider",
		       w->run_dir, WV_PROVIDERS_FILE, strerror(-err));
	for (unsigned int i = 0; i < w->devices->n; i++) {
		const struct wv_device *device = &w->devices->all[i];

		wv_log(WV_INFO, "%s is %s, provider %s%s%s", device->ibdev, device->node,
		       *device->provider ? device->provider : "not known",
		       device->leasable ? "" : ", not leased: ",
		       device->leasable ? "" : device->unleased_because);
	}
}

/*
 * What appears during the scan is either found by it or noticed by the watch, which is there
 * before.
 */
static void scan(struct wv_watch *w)
{
	struct wv_devices before = *w->devices;
	int err;

	watch_nodes(w);
	err = w->scan(w->devices, &w->options);
	if (err)
		wv_log(WV_WARNING, "devices cannot be listed: %s", strerror(-err));
	else if (!w->announced || !same_devices(&before, w->devices))
		announce(w);
	if (!err && is_settled(w->devices))
		return;
	if (w->rescans_left && --w->rescans_left)
		rescan_soon(w, SETTLE_US << (MAX_RESCANS - w->rescans_left));
	else if (err)
		rescan_soon(w, LIST_AGAIN_US);
}

static int on_rescan(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_watch *w = data;

	(void)source;
	(void)now;
	scan(w);
	w->rescanned(w->arg);
	return 0;
}

int wv_watch_start(struct wv_watch *w)
{
	int err = wv_timer_add(w->event, WV_PRIORITY_DEVICES, ACCURACY_US, on_rescan, w,
			       &w->rescan_timer);

	if (err)
		return err;
	err = sd_event_add_inotify(w->event, &w->dev_source, NODE_PARENT,
				   IN_CREATE | IN_MOVED_TO | IN_ONLYDIR, on_dev_event, w);
	if (err < 0)
		return err;
	w->rescans_left = MAX_RESCANS;
	scan(w);
	return 0;
}

void wv_watch_stop(struct wv_watch *w)
{
	w->node_source = sd_event_source_disable_unref(w->node_source);
	w->dev_source = sd_event_source_disable_unref(w->dev_source);
	w->rescan_timer = sd_event_source_disable_unref(w->rescan_timer);
}
