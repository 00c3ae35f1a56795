/*
 * Devices that come and go. The kernel removes a device's node first and then waits for all of its
 * ufiles to be closed, so a lease that is let go of when the node vanishes never holds it up.
 */
#include "base/base.h"
#include "daemon/server.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#define NODE_PARENT   "/dev"
#define NODE_DIR_NAME "infiniband"

/* A device's node appears a little before the rest of the kernel knows the device. */
#define SETTLE_US   50000
#define ACCURACY_US 1000
#define MAX_RESCANS 8

static void rescan_soon(struct wv_server *s, int64_t after_us)
{
	sd_event_source_set_time(s->rescan_source, (uint64_t)(wv_now(s) + after_us));
	sd_event_source_set_enabled(s->rescan_source, SD_EVENT_ONESHOT);
}

static void on_node_gone(struct wv_server *s, const char *name)
{
	const struct wv_device *device = wv_devices_by_name(&s->devices, name);

	if (!device)
		return;
	wv_scheduler_drop_device(s, device->ibdev);
	wv_constants_drop(&s->constants, device->rdev);
	wv_log(WV_NOTICE, "%s (%s) is being removed: its leases are closed", device->ibdev, name);
}

/* Events were lost, so any device may be gone. */
static void on_overflow(struct wv_server *s)
{
	for (unsigned int i = 0; i < s->devices.n; i++)
		wv_scheduler_drop_device(s, s->devices.all[i].ibdev);
	wv_constants_drop_all(&s->constants);
}

static int on_node_event(sd_event_source *source, const struct inotify_event *event, void *data)
{
	struct wv_server *s = data;

	(void)source;
	if (event->mask & (IN_DELETE | IN_MOVED_FROM) && event->len)
		on_node_gone(s, event->name);
	if (event->mask & IN_Q_OVERFLOW)
		on_overflow(s);
	if (event->mask & IN_IGNORED) /* the directory itself is gone */
		s->node_watch = sd_event_source_disable_unref(s->node_watch);
	s->rescans_left = MAX_RESCANS;
	rescan_soon(s, SETTLE_US);
	return 0;
}

static void watch_nodes(struct wv_server *s)
{
	int err;

	if (s->node_watch)
		return;
	err = sd_event_add_inotify(s->event, &s->node_watch, WV_NODE_DIR,
				   IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVE | IN_ONLYDIR,
				   on_node_event, s);
	if (err >= 0)
		sd_event_source_set_priority(s->node_watch, WV_PRIORITY_DEVICES);
	else if (err != -ENOENT)
		wv_log(WV_WARNING,
		       "%s cannot be watched: %s: removal of a device will wait until "
		       "its leases are used up",
		       WV_NODE_DIR, strerror(-err));
}

static int on_dev_event(sd_event_source *source, const struct inotify_event *event, void *data)
{
	struct wv_server *s = data;

	(void)source;
	if (event->len && strcmp(event->name, NODE_DIR_NAME))
		return 0;
	s->rescans_left = MAX_RESCANS;
	rescan_soon(s, SETTLE_US);
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

static void announce(struct wv_server *s)
{
	int err = wv_providers_write(&s->devices, s->run_dir);

	if (err)
		wv_log(WV_WARNING, "%s/%s cannot be written: %s: programs load every provider",
		       s->run_dir, WV_PROVIDERS_FILE, strerror(-err));
	for (unsigned int i = 0; i < s->devices.n; i++) {
		const struct wv_device *device = &s->devices.all[i];

		wv_log(WV_INFO, "%s is %s, provider %s%s", device->ibdev, device->node,
		       *device->provider ? device->provider : "not known",
		       device->leasable ? "" : ", not leased");
	}
}

static int on_rescan(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_server *s = data;
	struct wv_devices before = s->devices;
	int err = wv_devices_scan(&s->devices, s->config.provider_dir);

	(void)source;
	(void)now;
	if (err)
		wv_log(WV_WARNING, "devices cannot be listed: %s", strerror(-err));
	watch_nodes(s);
	if (!same_devices(&before, &s->devices))
		announce(s);
	wv_scheduler_retry(s);
	if (!is_settled(&s->devices) && s->rescans_left && --s->rescans_left)
		rescan_soon(s, SETTLE_US << (MAX_RESCANS - s->rescans_left));
	return 0;
}

int wv_watch_start(struct wv_server *s)
{
	int err = sd_event_add_time(s->event, &s->rescan_source, CLOCK_MONOTONIC, 0, ACCURACY_US,
				    on_rescan, s);

	if (err < 0)
		return err;
	sd_event_source_set_enabled(s->rescan_source, SD_EVENT_OFF);
	sd_event_source_set_priority(s->rescan_source, WV_PRIORITY_DEVICES);
	err = sd_event_add_inotify(s->event, &s->dev_watch, NODE_PARENT,
				   IN_CREATE | IN_MOVED_TO | IN_ONLYDIR, on_dev_event, s);
	if (err < 0)
		return err;
	watch_nodes(s);
	announce(s);
	s->rescans_left = MAX_RESCANS;
	if (!is_settled(&s->devices))
		rescan_soon(s, SETTLE_US);
	return 0;
}

void wv_watch_stop(struct wv_server *s)
{
	s->node_watch = sd_event_source_disable_unref(s->node_watch);
	s->dev_watch = sd_event_source_disable_unref(s->dev_watch);
	s->rescan_source = sd_event_source_disable_unref(s->rescan_source);
}
