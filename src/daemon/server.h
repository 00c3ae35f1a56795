/*
 * The daemon: one event loop, in one thread, and beside it the builders (build.h), which make
 * leases and touch nothing of what is here.
 *
 * The loop is libsystemd's sd-event: timers, signals, inotify, the watchdog, socket activation and
 * notification come from one library that is kept with the system's own service manager, and
 * priorities between sources, on which "refill when nobody is being served" rests, are part of it.
 */
#pragma once

#include "base/log.h"
#include "daemon/config/config.h"
#include "daemon/devices/constants.h"
#include "daemon/devices/devices.h"
#include "daemon/pool/build.h"
#include "daemon/pool/pool.h"
#include "daemon/pool/reaper.h"
#include "store/catalog.h"
#include "store/store.h"
#include "wire/wire.h"

#include <sys/un.h>
#include <systemd/sd-event.h>

/* Limits that protect the daemon from its clients. */
#define WV_MAX_CLIENTS		      4096
#define WV_MAX_CLIENTS_PER_USER	      512
#define WV_MAX_POOL_REQUESTS_PER_USER 64
#define WV_FIRST_MESSAGE_US	      5000000 /* a client that says nothing for so long is closed */
#define WV_SPARE_FDS		      64 /* of RLIMIT_NOFILE, for files, libraries and the like */

/* Order of sources that are ready at once. */
enum wv_priority {
	WV_PRIORITY_DEVICES = -10, /* a device that goes away must not wait for us */
	WV_PRIORITY_CLIENTS = 0,
	WV_PRIORITY_TIMERS = 10,
	WV_PRIORITY_RESULTS = 50, /* of builders */
	WV_PRIORITY_WORK = 100,	  /* when nobody is being served */
};

struct wv_client;

/* Events that nobody is told of one by one. */
struct wv_tally {
	uint64_t accepted;
	uint64_t malformed; /* connections closed for what they sent */
	uint64_t silent;    /* closed for saying nothing */
	uint64_t over_limit;
	uint64_t denied; /* requests without a right to the device */
};

struct wv_server {
	struct wv_config config;
	sd_event *event;
	wv_issue_fn issue; /* how commands reach the kernel; called by several threads at once */
	struct wv_devices devices;
	struct wv_all_constants constants; /* of the devices */
	struct wv_store store;
	struct wv_catalog catalog;
	struct wv_limits limits;
	struct wv_tally tally;
	char kernel[65]; /* release */
	int64_t start_us;

	/* listen.c, accept.c */
	int listen_fd;
	bool activated; /* the socket is systemd's */
	char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char run_dir[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* the socket's */
	sd_event_source *listen_source, *pause_source;
	int spare_fd;

	/* client.c */
	LIST_HEAD(, wv_client) clients;
	unsigned int n_clients, max_clients;
	sd_event_source *silence_source;
	LIST_HEAD(, wv_client) pool_requests; /* clients that want leases kept */
	struct wv_log_limit malformed_limit, descriptors_limit;
	uint64_t message[(WV_WIRE_MAX + 7) / 8]; /* being received */

	/* watch.c */
	sd_event_source *dev_watch, *node_watch, *rescan_source;
	unsigned int rescans_left;

	/* refill.c, results.c */
	struct wv_builders builders;
	struct wv_reaper ender;
	sd_event_source *refill_timer, *work_source, *results_source;
	int64_t request_us; /* the last request */
	int64_t behind_us;  /* since when a pool lacks leases; 0: none does */
	int64_t unsaved_us; /* saving failed: not tried again before */
	int64_t stale_us;   /* counters are saved next */
};

/*
 * Prepares a server that serves @listen_fd, which becomes the server's. The caller has filled in
 * config, devices, issue, socket, run_dir, activated, and has opened the store; recipes are loaded
 * here. 0 or -errno.
 */
int wv_server_init(struct wv_server *s, int listen_fd);
/* Ends all connections and leases, saves what is unsaved. */
void wv_server_finish(struct wv_server *s);

/* Steady clock of the loop, microseconds. */
int64_t wv_now(struct wv_server *s);
/* Seconds since the epoch. */
uint64_t wv_wall_clock(void);

/* listen.c */

/*
 * The socket to serve: systemd's, or a new one at config.socket. Fills in listen_fd's neighbours
 * socket, run_dir and activated. Returns the descriptor, or -errno after it was logged.
 */
int wv_listen(struct wv_server *s);
/* Removes the socket and the providers file, unless systemd owns the socket. */
void wv_unlisten(struct wv_server *s);

/* accept.c */
int wv_accept_start(struct wv_server *s);
void wv_accept_stop(struct wv_server *s);

/* watch.c */
int wv_watch_start(struct wv_server *s);
void wv_watch_stop(struct wv_server *s);

/* refill.c */
int wv_scheduler_start(struct wv_server *s);
void wv_scheduler_stop(struct wv_server *s);
/* Something was asked for, or changed: look after the pools once it is quiet. */
void wv_scheduler_poke(struct wv_server *s);
/* Gives @recipe a pool. 0 or -ENOMEM. */
int wv_scheduler_adopt(struct wv_server *s, struct wv_recipe *recipe);
/*
 * The device is gone: ends all leases of it at once, since they keep the kernel from removing it.
 * Those under construction end after the command in progress.
 */
void wv_scheduler_drop_device(struct wv_server *s, const char *ibdev);
/* Ends all leases of @recipe and its pool, likewise. */
void wv_scheduler_drop_recipe(struct wv_server *s, struct wv_recipe *recipe);
/* Builders are idle, or pools are not at their size: looks after them when nobody is served. */
void wv_scheduler_go_on(struct wv_server *s);
/* Devices came or changed: what failed is tried again. */
void wv_scheduler_retry(struct wv_server *s);

/* results.c */

/* Starts the builders and listens to them. 0 or -errno. */
int wv_build_results_start(struct wv_server *s);
/* Ends the builders. */
void wv_build_results_stop(struct wv_server *s);
/* No lease of @pool could be made: @err and @why as of wv_pooled_lease_make(). */
void wv_note_failure(struct wv_server *s, struct wv_pool *pool, int err, const char *why);

/* plan.c */

/* Steady time after which an unused pool is halved. */
int64_t wv_idle_us(const struct wv_server *s);
/* Decides anew how large each pool should be. */
void wv_plan_pools(struct wv_server *s);
/* The device on which @recipe can be carried out now, or NULL. */
const struct wv_device *wv_device_of(struct wv_server *s, const struct wv_recipe *recipe);
/* How many leases of @recipe programs asked to be kept ready; 0: nobody did. See wish.c. */
uint32_t wv_pool_requested(struct wv_server *s, const struct wv_recipe *recipe);
/* What leases take up that wait or are being made; or only those of @only unless it is NULL. */
struct wv_use wv_use_of(struct wv_server *s, const struct wv_user *only);

/* save.c */

/* Saves one recipe that is due. Whether it did. */
bool wv_save_one(struct wv_server *s);
/* Saves all that has changed, whatever the time. */
void wv_save_all(struct wv_server *s);

/* The loops over all recipes. */
#define wv_each_user(s, user)	LIST_FOREACH (user, &(s)->catalog.users, link)
#define wv_each_recipe(user, r) TAILQ_FOREACH (r, &(user)->recipes, link)
